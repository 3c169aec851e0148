// The API's JSON as YAML.
import { Document, isScalar, visit } from "yaml";
import type { Json, JsonObject } from "../api/rest.ts";
import { escapeControls } from "../printable.ts";
import type { Writer } from "./writer.ts";

/** A value as YAML 1.2 that readers of YAML 1.1 take for the same. Control characters are quoted, with escapes. */
export function yamlText(value: Json): string {
  const document = new Document(value, { compat: "yaml-1.1" });
  visit(document, {
    Scalar(_, node) {
      if (isScalar(node) && typeof node.value === "string" && escapeControls(node.value) !== node.value)
        node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeControls(document.toString({ lineWidth: 0, indentSeq: false }));
}

/** Prints a list in the form of its response, an item at a time. `behind`: its other fields, known after the items. */
export async function printYamlList(
  items: AsyncIterable<JsonObject>,
  field: string,
  writer: Writer,
  behind: () => JsonObject,
): Promise<void> {
  let started = false;
  for await (const item of items) {
    await writer.write(`${started ? "" : `${field}:\n`}${yamlText([item])}`);
    started = true;
  }
  const others = behind();
  await writer.write(`${started ? "" : `${field}: []\n`}${Object.keys(others).length === 0 ? "" : yamlText(others)}`);
}
