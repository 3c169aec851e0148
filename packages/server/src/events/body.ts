import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { isInputOnly } from "../lib/protojson/fields.ts";
import { type JsonForm, jsonWriter } from "../lib/protojson/write.ts";

const MAX_TEXT_CHARS = 4096;
const MAX_BODY_BYTES = 64 * 1024;

/** What is told of a message: nothing secret, and nothing that is only asked for. */
const TOLD: JsonForm = {
  leavesOut: (field) => isInputOnly(field) || isSecret(field),
  writeText: (text) => ((text as string).length > MAX_TEXT_CHARS ? '""' : JSON.stringify(text)),
};

/**
 * The body of an event as JSON text: the message as the REST door answers it, without fields marked `debug_redact`;
 * texts of more than 4096 characters are left empty. What would take more than 64 KiB is told as `{"uid": …,
 * "truncated": true}` alone, for the API has it whole. Source: contract §4, §9.
 */
export function bodyOf(schema: DescMessage, message: Message): string {
  const text = jsonWriter(schema, TOLD)(message);
  if (Buffer.byteLength(text) <= MAX_BODY_BYTES) return text;
  const { uid } = message as { uid?: unknown };
  return JSON.stringify({ ...(typeof uid === "string" && { uid }), truncated: true });
}

function isSecret(field: DescField): boolean {
  return field.proto.options?.debugRedact === true;
}
