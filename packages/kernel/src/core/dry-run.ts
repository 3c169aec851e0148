import { clearField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { type Fields, getField, isSecret } from "../lib/protojson/fields.ts";

/** Whether the call of a writing method only asks what it would do. Source: AIP-163. */
export function isDryRun(request: Message): boolean {
  return (request as { validateOnly?: unknown }).validateOnly === true;
}

/** Empties the secrets of an answer whose resource does not stay, in the message itself and those in its fields. */
export function clearSecrets(desc: DescMessage, message: Message): void {
  for (const field of desc.fields) {
    if (isSecret(field)) clearField(message, field);
    else if (field.message !== undefined && field.fieldKind !== "map") {
      const value = getField(message as Fields, field) as Message | Message[] | undefined;
      for (const each of value === undefined ? [] : [value].flat()) clearSecrets(field.message, each);
    }
  }
}
