// Removes what stands in the groups of the files and is not in them.
import { objectIn, textIn } from "../api/json-fields.ts";
import type { PathOf } from "../api/uid-paths.ts";
import type { JsonObject } from "../api/rest.ts";
import { KIND_SPECS, type KindSpec } from "./kinds.ts";
import type { Declared } from "./parse.ts";
import type { Existing, Server } from "./server.ts";

/** A resource that is on the server and not in the files. */
export interface Surplus {
  readonly spec: KindSpec;
  readonly uid: string;
  readonly label: string;
  /** Why it stays. */
  readonly kept?: string;
}

export interface PruneOptions {
  server: Server;
  existing: Existing;
  pathOf: PathOf;
  /** The uids of the declared that are there. */
  made: ReadonlyMap<Declared, string>;
  /** The caller's own identity: what gives it its rights stays. */
  caller: string;
  /** Whether repos with tags go as well. */
  takesRepos: boolean;
}

// Tags come and go by pushes and retention.
const PRUNED: readonly KindSpec[] = KIND_SPECS.filter(({ kind }) => kind !== "tag");

/**
 * What is to go: of the kinds that the files have, what is directly below the groups and providers that they have
 * documents of. In an order in which it can go: what names others first, what is deepest first.
 */
export async function surplusOf(all: readonly Declared[], options: PruneOptions): Promise<Surplus[]> {
  const { existing, made, pathOf } = options;
  const managed = new Set(made.values());
  const declaredKinds = new Set(all.map(({ spec }) => spec));
  const found: Surplus[] = [];
  for (const spec of PRUNED.toReversed()) {
    if (!declaredKinds.has(spec)) continue;
    const parents = all.filter((one) => one.spec.kind === spec.parent).flatMap((one) => made.get(one) ?? []);
    for (const parent of parents)
      for (const item of await existing.all(spec, parent)) {
        const uid = textIn(item, "uid");
        // An association has the uid of its group.
        const isDeclared = spec.kind === "association" ? isDeclaredAt(all, made, spec, uid) : managed.has(uid);
        if (isDeclared) continue;
        const label = `${spec.name} ${await pathOf(uid, spec.kind)}`;
        const kept = await reasonToKeep(spec, item, options);
        found.push({ spec, uid, label, ...(kept !== undefined && { kept }) });
      }
  }
  const depth = ({ uid }: Surplus): number => uid.split("/").length;
  const groups = found.filter(({ spec }) => spec.kind === "group").toSorted((a, b) => depth(b) - depth(a));
  return [...found.filter(({ spec }) => spec.kind !== "group"), ...groups];
}

function isDeclaredAt(
  all: readonly Declared[],
  made: ReadonlyMap<Declared, string>,
  spec: KindSpec,
  uid: string,
): boolean {
  return all.some((one) => one.spec === spec && made.get(one) === uid);
}

async function reasonToKeep(
  { kind }: KindSpec,
  item: JsonObject,
  { server, caller, takesRepos }: PruneOptions,
): Promise<string | undefined> {
  const uid = textIn(item, "uid");
  if (kind === "binding" && textIn(objectIn(item, "identity"), "uid") === caller) return "it gives you your rights";
  if (kind === "identity" && uid === caller) return "it is you";
  if (kind === "role" && (await isHeld(server, caller, uid))) return "it gives you your rights";
  if (takesRepos) return undefined;
  const below =
    kind === "repo" ? { "uidp.childrenOf": uid } : kind === "group" ? { "uidp.descendantsOf": uid } : undefined;
  if (below === undefined) return undefined;
  for await (const _ of server.list("/registry/v2/tags", "tags", { query: below, pageSize: 1, limit: 1 }))
    return kind === "repo" ? "it has tags; --prune-repos takes it" : "a repo in it has tags; --prune-repos takes it";
  return undefined;
}

async function isHeld(server: Server, identity: string, role: string): Promise<boolean> {
  for await (const _ of server.list("/iam/v2/roleBindings", "roleBindings", { query: { identity, role }, limit: 1 }))
    return true;
  return false;
}
