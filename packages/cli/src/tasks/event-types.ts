// The types of events by the names that people read: `registry.push`, or `iam.identity.created` as `events watch` has
// it.
import type { JsonObject } from "../api/rest.ts";
import { EVENT_TYPES } from "../gen/event-types.ts";
import { type OutputFlags, printList, printMessage } from "../output/output.ts";
import type { Extended, Extra } from "../resources/extension.ts";
import { typePrefix } from "./event-watch.ts";
import { shownType } from "./event-columns.ts";

/** The flags of a subscription with whole types in `typePrefixes`; undefined where none are given. */
export async function typesOf({ rest, names, flags, words }: Extended): Promise<Extra | undefined> {
  const given = flags["typePrefixes"];
  if (!Array.isArray(given)) return undefined;
  const prefix = await typePrefix({ rest }, await names.uidOf("group", words[0] ?? ""));
  return { values: { typePrefixes: given.flatMap((text) => wholeTypes(String(text), prefix)) } };
}

/**
 * What types begin with that a person may mean by the text; the text itself where it is whole already, or where no type
 * is known that begins so. `prefix`: that of the installation, with its dot.
 */
function wholeTypes(text: string, prefix: string): string[] {
  if (text.startsWith(prefix) || prefix.startsWith(text)) return [text];
  const found = new Set<string>();
  for (const { type } of EVENT_TYPES) {
    if (type.startsWith(text)) found.add(prefix + text);
    const shown = shownType(type);
    const front = type.slice(0, type.lastIndexOf(shown));
    if (shown.startsWith(text)) found.add(prefix + front + text);
  }
  if (found.size > 0) return [...found];
  printMessage(`moorage: no type that this command knows begins with ${text}: moorage events types lists them`);
  return [text];
}

/** Prints every type, with what it means. */
export async function printTypes(flags: OutputFlags): Promise<void> {
  const rows = EVENT_TYPES.map(({ type, help }): JsonObject => ({ type, shown: shownType(type), meaning: help }));
  const listing = {
    field: "types",
    columns: [
      { header: "TYPE", value: (row: JsonObject) => String(row["type"]) },
      { header: "MEANING", value: (row: JsonObject) => String(row["meaning"]), flexible: true },
      { header: "SHOWN AS", value: (row: JsonObject) => String(row["shown"]), wide: true as const },
    ],
    nameOf: (row: JsonObject) => String(row["type"]),
    idOf: (row: JsonObject) => String(row["type"]),
  };
  await printList(each(rows), listing, flags);
}

async function* each(rows: readonly JsonObject[]): AsyncGenerator<JsonObject> {
  yield* rows;
}
