// Removes what stands in the groups of the files and is not in them.
import { objectIn, textIn } from "../api/json-fields.ts";
import type { Kind } from "../api/name-kinds.ts";
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
 * What is to go: of the kinds that the files have, what is below the groups and providers that they have documents of,
 * but not below groups that stay. In an order in which it can go: what names others first, what is deepest first.
 */
export async function surplusOf(all: readonly Declared[], options: PruneOptions): Promise<Surplus[]> {
  const { made } = options;
  const declaredKinds = new Set(all.map(({ spec }) => spec));
  const parents = { group: uidsOf(all, made, "group"), provider: uidsOf(all, made, "provider"), repo: [] as string[] };
  const found = new Map<KindSpec, Surplus[]>();
  // Groups and providers come before what is in them.
  for (const spec of PRUNED) {
    if (!declaredKinds.has(spec)) continue;
    const own: Surplus[] = [];
    found.set(spec, own);
    // Groups that go are added while it runs.
    for (const parent of parents[spec.parent])
      for (const one of await surplusIn(spec, parent, all, options)) {
        own.push(one);
        if (one.kept === undefined && (spec.kind === "group" || spec.kind === "provider"))
          parents[spec.kind].push(one.uid);
      }
  }
  return [...found.values()].toReversed().flatMap((each) => each.toReversed());
}

function uidsOf(all: readonly Declared[], made: ReadonlyMap<Declared, string>, kind: Kind): string[] {
  return all.filter(({ spec }) => spec.kind === kind).flatMap((one) => made.get(one) ?? []);
}

async function surplusIn(
  spec: KindSpec,
  parent: string,
  all: readonly Declared[],
  options: PruneOptions,
): Promise<Surplus[]> {
  const found: Surplus[] = [];
  for (const item of await options.existing.all(spec, parent)) {
    const uid = textIn(item, "uid");
    if (isDeclared(all, options.made, spec, uid)) continue;
    const label = `${spec.name} ${await options.pathOf(uid, spec.kind)}`;
    const kept = await reasonToKeep(spec, item, options);
    found.push({ spec, uid, label, ...(kept !== undefined && { kept }) });
  }
  return found;
}

/** Of that kind: an association and a quota have the uid of their group. */
function isDeclared(
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
