import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../api/rest.ts";
import { NOUNS } from "../gen/resources.ts";
import { COLUMNS } from "./column-tables.ts";
import { listingOf } from "./columns.ts";
import { type FieldData, methodsOf, type NounData } from "./method-data.ts";
import type { NounSpec } from "./spec.ts";

const DEPTH = 4;

/** A message whose fields are not known here: each has a value. */
const ANY = new Proxy<JsonObject>({}, { get: () => 7 });

/** A message in which every field has a value. */
function full(messages: NounData["messages"], message: string, depth = 0): JsonObject {
  const value = ({ name, type, of, values = [], prefix = "" }: FieldData): JsonObject[string] => {
    if (type === "bool") return true;
    if (type === "enum") return `${prefix}${values[0] ?? ""}`;
    if (type === "timestamp") return "2026-11-27T10:00:00Z";
    if (type === "duration") return "60s";
    if (type === "map") return { key: "value" };
    if (type === "message")
      return of !== undefined && messages[of] !== undefined && depth < DEPTH ? full(messages, of, depth + 1) : ANY;
    if (name === "uid") return "0123456789abcdef/0123456789abcdef";
    return type === "string" || type === "bytes" ? "text" : 7;
  };
  return Object.fromEntries(
    (messages[message] ?? []).map((field) => [field.name, field.repeated ? [value(field)] : value(field)]),
  );
}

interface Shown {
  command: string;
  field: string;
  item: JsonObject;
  listing: ReturnType<typeof listingOf>;
}

/** Every command of these kinds of a noun, with an item that has all there can be in it. */
async function listsOf(noun: NounSpec, kinds: readonly string[]): Promise<Shown[]> {
  const { messages, methods } = JSON.parse((await noun.load()).DATA) as NounData;
  const fields = await methodsOf(noun);
  return methods.flatMap(({ kind, verb, response, items }, at): Shown[] => {
    if (!kinds.includes(kind)) return [];
    const field = items ?? noun.name;
    const listing = listingOf(noun.name, field, fields[at]?.response ?? []);
    return [{ command: `${noun.name} ${verb}`, field, item: full(messages, response), listing }];
  });
}

test("every list shows something in each of its columns, and lists have the columns that were made for them", async () => {
  const lists = (await Promise.all(NOUNS.map((noun) => listsOf(noun, ["list"])))).flat();
  assert.ok(lists.length > 30);
  const empty: string[] = [];
  for (const { command, item, listing } of lists) {
    if (listing.columns.every(({ wide }) => wide === true)) empty.push(`${command}: no column but in wide`);
    for (const { header, value } of listing.columns)
      if ((await value(item, async (uid) => uid)) === "") empty.push(`${command}: ${header}`);
    if ((await listing.nameOf(item, async (uid) => uid)) === "") empty.push(`${command}: -o name`);
  }
  assert.deepEqual(empty, []);
  const all = await Promise.all(NOUNS.map((noun) => listsOf(noun, ["list", "get", "create", "update", "call"])));
  const used = new Set(all.flat().flatMap(({ command, field }) => [field, `${command.split(" ")[0]} ${field}`]));
  assert.deepEqual(
    Object.keys(COLUMNS).filter((field) => !used.has(field)),
    [],
  );
});
