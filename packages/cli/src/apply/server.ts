// What a server has of the resources in a file, asked for once for each place.
import { textIn } from "../api/json-fields.ts";
import { hasUidOfGroup } from "../api/name-kinds.ts";
import type { Json, JsonObject, ListOptions, Query, Verb } from "../api/rest.ts";
import type { KindSpec } from "./kinds.ts";

/** The calls that applying needs. */
export interface Server {
  call(verb: Verb, path: string, options?: { query?: Query; body?: Json }): Promise<JsonObject>;
  list(path: string, field: string, options?: ListOptions): AsyncIterable<JsonObject>;
}

// So many are asked for by their names; more by the list of all.
const MOST_BY_NAME = 10;

/** What is below a parent. */
export interface Existing {
  /**
   * Those of a kind below the parent with this key, of which identities may have several. `wanted`: how many are asked
   * for of that kind there.
   */
  find(spec: KindSpec, parent: string, key: string, wanted: number): Promise<readonly JsonObject[]>;
  /** All of a kind below the parent. */
  all(spec: KindSpec, parent: string): Promise<readonly JsonObject[]>;
}

/** The filter for what is directly below a parent; the root is the empty one. */
function below(parent: string): Query {
  return parent === "" ? { "uidp.inRoot": true } : { "uidp.childrenOf": parent };
}

/** What is on the server. */
export function existingOn(server: Server): Existing {
  const lists = new Map<string, Promise<readonly JsonObject[]>>();
  const indexes = new Map<string, Promise<ReadonlyMap<string, readonly JsonObject[]>>>();
  const all: Existing["all"] = (spec, parent) =>
    remember(lists, `${spec.name} ${parent}`, () => listed(server, spec, whereOf(spec, parent)));
  return {
    all,
    async find(spec, parent, key, wanted) {
      if (hasUidOfGroup(spec.kind))
        return remember(lists, `${spec.kind} ${parent}`, () => listed(server, spec, { "uidp.ids": [parent] }));
      if (spec.key[0] === "name" && wanted <= MOST_BY_NAME)
        return await listed(server, spec, { ...below(parent), name: key });
      const index = remember(indexes, `${spec.name} ${parent}`, async () =>
        Map.groupBy(await all(spec, parent), (item) => spec.keyOf(item)),
      );
      return (await index).get(key) ?? [];
    },
  };
}

function whereOf(spec: KindSpec, parent: string): Query {
  return hasUidOfGroup(spec.kind) ? { "uidp.ids": [parent] } : below(parent);
}

async function listed(server: Server, { path, field, kind }: KindSpec, query: Query): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  for await (const item of server.list(path, field, { query })) found.push(item);
  // People are of no group, although lists of a group's identities have those of its providers.
  return kind === "identity" ? found.filter((item) => textIn(item, "identityProvider") === "") : found;
}

function remember<T>(known: Map<string, Promise<T>>, key: string, load: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? load();
  known.set(key, found);
  return found;
}
