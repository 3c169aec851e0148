// What looking up a name ends with: one resource, several of that name, or none and the names that are near.
import { nearest } from "@moorage/kernel/lib/near";
import { Failure } from "../command/failure.ts";
import { EXIT } from "../command/exit-codes.ts";
import { plain } from "../printable.ts";
import { below } from "./group-path.ts";
import { type Kind, KINDS } from "./name-kinds.ts";
import type { JsonObject, Query, RestClient } from "./rest.ts";
import { objectsIn } from "./json-fields.ts";
import type { PathOf } from "./uid-paths.ts";

const SIBLINGS = 1000;
const SHOWN = 5;

/** What looking up names needs. */
export interface Lookup {
  rest: RestClient;
  uidOf(kind: Kind, text: string): Promise<string>;
  pathOf: PathOf;
}

/** The resources of a kind, at most 50, with a filter. */
export async function listNamed(rest: RestClient, kind: Kind, query: Query): Promise<JsonObject[]> {
  const { path, field } = KINDS[kind];
  return objectsIn(await rest.call("GET", path, { query: { ...query, page_size: 50 } }), field);
}

/** The only one. A repo whose name it is comes before those that have it as an alias. */
export async function onlyOne(
  { pathOf }: Pick<Lookup, "pathOf">,
  kind: Kind,
  text: string,
  found: readonly JsonObject[],
  missing: () => Promise<never>,
): Promise<string> {
  const name = text.slice(text.lastIndexOf("/") + 1);
  const named = found.filter((item) => item["name"] === name);
  const [first, second] = named.length > 0 ? named : found;
  if (first === undefined) return missing();
  if (second === undefined) return String(first["uid"]);
  const all = named.length > 0 ? named : found;
  const shown = await Promise.all(
    all.slice(0, SHOWN).map(async ({ uid }) => `${String(uid)} (${await pathOf(String(uid), kind)})`),
  );
  const more = all.length > SHOWN ? ", …" : "";
  throw new Failure(`several have the name ${text}: ${shown.join(", ")}${more}`, {
    hint: `name the ${KINDS[kind].word} by its uid`,
  });
}

/**
 * Throws Failure with the names that are near. `within`: the whole text, of which `text` is the part that is not there.
 */
export async function throwMissing(
  { rest, pathOf }: Pick<Lookup, "rest" | "pathOf">,
  kind: Kind,
  text: string,
  { parent, name }: { parent: string | undefined; name: string },
  within = text,
): Promise<never> {
  const { path, field, nameField, word, query: needed } = KINDS[kind];
  const siblings: string[] = [];
  const query = { ...needed, ...(parent === undefined ? {} : below(parent)) };
  for await (const item of rest.list(path, field, { query, pageSize: 200, limit: SIBLINGS })) {
    siblings.push(String(item[nameField]));
  }
  const prefix = text.slice(0, text.length - name.length);
  const near = nearest(name, siblings).map((each) => plain(`${prefix}${each}`));
  const elsewhere = near.length > 0 || parent === undefined ? [] : await sameName(rest, pathOf, kind, name);
  const meant = [...near, ...elsewhere];
  const of = within === text ? "" : `, of ${plain(within)}`;
  throw new Failure(`there is no ${word} ${plain(text)} that you may see${of}`, {
    exit: EXIT.notFound,
    ...(meant.length > 0 && { hint: `did you mean ${meant.join(" or ")}?` }),
  });
}

/** Where else there is something of that name. */
async function sameName(rest: RestClient, pathOf: PathOf, kind: Kind, name: string): Promise<string[]> {
  if (KINDS[kind].nameField !== "name" || kind === "tag" || kind === "library") return [];
  const named = await listNamed(rest, kind, { name });
  return Promise.all(named.slice(0, 3).map(({ uid }) => pathOf(String(uid), kind)));
}
