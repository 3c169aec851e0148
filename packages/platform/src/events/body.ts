import type { DescMessage, Message } from "@bufbuild/protobuf";
import { isInputOnly, isSecret } from "@moorage/kernel/lib/protojson/fields";
import { type JsonForm, jsonWriter } from "@moorage/kernel/lib/protojson/write";

const MAX_TEXT_CHARS = 4096;
const MAX_BODY_BYTES = 64 * 1024;

/** The JSON form of a message in an event: without secret and input-only fields. */
const EVENT_FORM: JsonForm = {
  leavesOut: (field) => isInputOnly(field) || isSecret(field),
  writeText: (text) => ((text as string).length > MAX_TEXT_CHARS ? '""' : JSON.stringify(text)),
};

/**
 * The body of an event as JSON text: the message as the REST API answers it, without fields marked `debug_redact` and
 * with texts of more than 4096 characters emptied. A body of more than 64 KiB is replaced by `{"uid": …, "truncated":
 * true}`; the API has the whole resource. Source: docs/contract.md, "JSON" and "Events".
 */
export function bodyOf(schema: DescMessage, message: Message): string {
  const text = jsonWriter(schema, EVENT_FORM)(message);
  if (Buffer.byteLength(text) <= MAX_BODY_BYTES) return text;
  const { uid } = message as { uid?: unknown };
  return JSON.stringify({ ...(typeof uid === "string" && { uid }), truncated: true });
}
