import type { Database, Row } from "@moorage/kernel/store";
import { select, statement } from "@moorage/kernel/store";
import { wildcard } from "@moorage/kernel/lib/wildcard";
import { standInAbove } from "../registry/index.ts";
import { type RegistryRate, rateOf } from "./rate.ts";
import { durationMs } from "./durations.ts";
import { repoPolicy } from "./repo-policy.ts";
import { nameAt, registryKey, registryOrigin, restOf } from "./registries.ts";

/** A repository of another registry, and the upstream by which the group stands for that registry. */
export interface StandIn {
  /** The upstream. */
  uid: string;
  /** The uid of its group. */
  group: string;
  /** The registry, for people and as a key: docker.io for all names of that. */
  registry: string;
  /** Scheme, host and port. */
  origin: string;
  /** The repository's name at the registry. */
  name: string;
  username: string;
  /** Sealed; empty for none. */
  credential: string;
  disabled: boolean;
  tagTtlMs: number;
  missingTtlMs: number;
  /** 0 without one. */
  cooldownMs: number;
  allowedDigests: readonly string[];
  /** Nothing is asked before, in milliseconds since 1970; 0 without a limit. */
  heldUntilMs: number;
  rate: RegistryRate | undefined;
  lastError: string;
  lastSuccessMs: number | null;
  /** The tag policy of the repos that come, in its stored form; null for none. */
  repoPolicy: string | null;
  /** Whether the rules of the upstream let the repository be pulled. */
  isAllowed: boolean;
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const selectOrigin = statement<Row<"registry_upstreams"> & { name: string }>(
  "select u.*, o.name from upstream_repos as o join registry_upstreams as u on u.uid = o.upstream where o.repo = ?",
  ["text"],
);

/** From where a repo came; undefined for one that is a group's own. */
export async function originOf(tx: Database, repo: string): Promise<StandIn | undefined> {
  const [row] = await selectOrigin(tx, repo);
  return row && standInOf(row, row.name);
}

/**
 * The repository that a path means which leads to no repo: `names` are all names of the path, and `group` is the
 * innermost group of it that exists. `canonical`: the path under which it would be here. Undefined where no group
 * stands for a registry.
 */
export async function standInFor(
  tx: Database,
  group: string,
  names: readonly string[],
): Promise<{ standIn: StandIn; canonical: string } | undefined> {
  const row = await standInAbove(tx, group);
  if (row === undefined) return undefined;
  const depth = row.parent.split("/").length;
  const rest = names.slice(depth).join("/");
  if (rest === "") return undefined;
  const name = nameAt(row, rest);
  const canonical = [...names.slice(0, depth), restOf(row, name)].join("/");
  return { standIn: standInOf(row, name), canonical };
}

/** Which group above the path of these names stands for which registry, in words; undefined for none. */
export async function standsForWords(tx: Database, uid: string, names: readonly string[]): Promise<string | undefined> {
  const row = await standInAbove(tx, uid);
  if (row === undefined) return undefined;
  return `${names.slice(0, row.parent.split("/").length).join("/")} stands for ${registryKey(row.registry)}`;
}

/** The name below the group here of a repository of the registry; undefined for one that is not below the prefix. */
export function pathBelow(row: Row<"registry_upstreams">, name: string): string | undefined {
  return row.prefix === "" || name.startsWith(`${row.prefix}/`) ? restOf(row, name) : undefined;
}

/** Notes that a repo came from the upstream, under that name. */
export async function noteOrigin(tx: Database, repo: string, { uid, name }: StandIn): Promise<void> {
  await tx
    .insertInto("upstream_repos")
    .values({ repo, upstream: uid, name })
    .onConflict((on) => on.doNothing())
    .execute();
}

/** Whether the upstream is still there, and is one of the repo. */
export async function isOrigin(tx: Database, repo: string, upstream: string): Promise<boolean> {
  const found = await select(tx, "select 1 from upstream_repos where repo = ? and upstream = ?", [repo, upstream]);
  return found.length > 0;
}

/** A repository of the upstream's registry, by its name there. */
export function standInOf(row: Row<"registry_upstreams">, name: string): StandIn {
  return {
    uid: row.uid,
    group: row.parent,
    registry: registryKey(row.registry),
    origin: registryOrigin(row.registry) ?? "",
    name,
    username: row.username,
    credential: row.credential,
    disabled: row.disabled === 1,
    tagTtlMs: tagTtlMs(row),
    missingTtlMs: durationMs(row.missing_ttl, MINUTE_MS),
    cooldownMs: durationMs(row.cooldown, 0),
    allowedDigests: listOf(row.allowed_digests),
    heldUntilMs: row.held_until,
    rate: rateOf(row.rate),
    lastError: row.last_error,
    lastSuccessMs: row.last_success_time,
    repoPolicy: repoPolicy(row),
    isAllowed: isAllowed(row, name),
  };
}

/** For how many milliseconds a tag of the upstream is served without asking. */
export function tagTtlMs({ tag_ttl }: Row<"registry_upstreams">): number {
  return durationMs(tag_ttl, HOUR_MS);
}

function isAllowed({ allowed, denied }: Row<"registry_upstreams">, name: string): boolean {
  const matches = (patterns: readonly string[]): boolean => patterns.some((each) => wildcard(each).matches(name));
  const wanted = listOf(allowed);
  return !matches(listOf(denied)) && (wanted.length === 0 || matches(wanted));
}

function listOf(column: string): string[] {
  // The service writes a list of texts.
  return JSON.parse(column) as string[];
}
