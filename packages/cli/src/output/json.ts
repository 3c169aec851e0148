// JSON as the API has it.
import type { Json, JsonObject } from "../api/rest.ts";
import { escapeControls } from "../printable.ts";
import type { Writer } from "./writer.ts";

/** A value as JSON, indented. Control characters are escapes, those too that JSON need not escape. */
export function jsonText(value: Json, indent = ""): string {
  return escapeControls(JSON.stringify(value, null, 2)).replaceAll("\n", `\n${indent}`);
}

/** A value as JSON in one line. */
export function jsonLine(value: Json): string {
  return escapeControls(JSON.stringify(value));
}

/** Prints a list in the form of its response, an item at a time. `behind`: its other fields, known after the items. */
export async function printJsonList(
  items: AsyncIterable<JsonObject>,
  field: string,
  writer: Writer,
  behind: () => JsonObject,
): Promise<void> {
  let started = false;
  for await (const item of items) {
    await writer.write(`${started ? "," : `{\n  ${JSON.stringify(field)}: [`}\n    ${jsonText(item, "    ")}`);
    started = true;
  }
  const others = Object.entries(behind()).map(
    ([name, value]) => `,\n  ${JSON.stringify(name)}: ${jsonText(value, "  ")}`,
  );
  await writer.write(`${started ? "\n  ]" : `{\n  ${JSON.stringify(field)}: []`}${others.join("")}\n}\n`);
}
