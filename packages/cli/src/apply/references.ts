// The paths of names in a resource's fields, and the uids that they stand for.
import { isObject } from "../api/json-fields.ts";
import { isUid, type Kind } from "../api/name-kinds.ts";
import type { Names } from "../api/names.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { NAMED_BY_PATH, type Reference } from "./kinds.ts";
import type { Declared } from "./parse.ts";

/** The declared resources that others can name, by kind and path. */
export type Index = ReadonlyMap<string, Declared>;

/** The index of the declared. */
export function indexOf(all: readonly Declared[]): Index {
  return new Map(
    all.filter(({ spec }) => NAMED_BY_PATH.has(spec.kind)).map((one) => [`${one.spec.kind} ${one.path}`, one]),
  );
}

/** The declared resources that one names: what it is below, and what its fields name. */
export function dependenciesOf({ spec, parent, fields }: Declared, index: Index): Declared[] {
  const above = parent === "" ? undefined : index.get(`${spec.parent} ${parent}`);
  const named = spec.references.flatMap(({ at, kinds }) =>
    textsAt(fields, at).flatMap((text) => declaredAs(index, kinds, text) ?? []),
  );
  return [...new Set([...(above ? [above] : []), ...named])];
}

function declaredAs(index: Index, kinds: readonly Kind[], text: string): Declared | undefined {
  return kinds.map((kind) => index.get(`${kind} ${text}`)).find((one) => one !== undefined);
}

/** Answers a uid for a path; undefined for what is declared and not there yet, as in a dry run. */
export type UidOf = (kinds: readonly Kind[], text: string) => Promise<string | undefined>;

/** Looks declared resources up first, then names on the server. `made`: the uids of the declared that are there. */
export function uidsOf(index: Index, names: Pick<Names, "uidOf">, made: ReadonlyMap<Declared, string>): UidOf {
  return async (kinds, text) => {
    if (isUid(text)) return text;
    const declared = declaredAs(index, kinds, text);
    if (declared !== undefined) return made.get(declared);
    const [first, ...others] = kinds;
    if (first === undefined) throw new Error("a reference without kinds");
    try {
      return await names.uidOf(first, text);
    } catch (error) {
      if (!(error instanceof Failure) || error.exit !== EXIT.notFound) throw error;
      for (const kind of others) return await names.uidOf(kind, text);
      throw error;
    }
  };
}

/** The texts at a path in fields. */
function textsAt(value: Json | undefined, [first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return typeof value === "string" && value !== "" ? [value] : [];
  if (first === "*") {
    const all = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
    return all.flatMap((each) => textsAt(each, rest));
  }
  return isObject(value) ? textsAt(value[first], rest) : [];
}

/** A copy of the fields in which the texts at the paths of references are replaced. */
export async function replaced(
  fields: JsonObject,
  references: readonly Reference[],
  replace: (kinds: readonly Kind[], text: string) => Promise<string>,
): Promise<JsonObject> {
  let copy: Json = fields;
  for (const { at, kinds } of references) copy = await replacedAt(copy, at, (text) => replace(kinds, text));
  return isObject(copy) ? copy : fields;
}

async function replacedAt(
  value: Json,
  [first, ...rest]: readonly string[],
  replace: (text: string) => Promise<string>,
): Promise<Json> {
  if (first === undefined) return typeof value === "string" && value !== "" ? await replace(value) : value;
  if (Array.isArray(value) && first === "*") return Promise.all(value.map((each) => replacedAt(each, rest, replace)));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const [name, each] of Object.entries(value))
    copy[name] = first === "*" || name === first ? await replacedAt(each, rest, replace) : each;
  return copy;
}
