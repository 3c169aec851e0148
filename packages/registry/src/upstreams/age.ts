import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Database } from "@moorage/kernel/store";
import type { StandIn } from "./stand-ins.ts";

/** A digest that was seen at a registry. */
export interface Sighting {
  repo: string;
  digest: string;
  /** The tag that pointed to it. */
  tag?: string | undefined;
  /** What it refers to, as signatures do: its age is that of this digest. Empty for none. */
  subject?: string;
  /** The manifests that it names: they are as old as it is. */
  parts?: readonly string[];
}

/** The rules by which digests are too young. */
export type AgeRules = Pick<StandIn, "cooldownMs" | "allowedDigests">;

const MAX_DEPTH = 8;
const MAX_ROWS = 50;
const MAX_SIGHTINGS = 200;
const CHUNK = 200;

/** Notes that a digest was seen, unless it was before; with what it consists of. */
export const noteSighting = command(
  "upstreams.noteSighting",
  async ({ tx, nowMs }: Call, { repo, digest, tag, subject = "", parts = [] }: Sighting): Promise<void> => {
    const rows = [
      { repo, digest, parent: subject, seen_time: nowMs },
      ...[...new Set(parts)].map((part) => ({ repo, digest: part, parent: digest, seen_time: nowMs })),
    ];
    for (let at = 0; at < rows.length; at += CHUNK)
      await tx
        .insertInto("upstream_digests")
        .values(rows.slice(at, at + CHUNK))
        .onConflict((on) => on.doNothing())
        .execute();
    if (tag === undefined) return;
    await tx
      .insertInto("upstream_sightings")
      .values({ repo, tag, digest, seen_time: nowMs })
      .onConflict((on) => on.doNothing())
      .execute();
  },
);

/**
 * From when on a digest is old enough, in milliseconds since 1970: since it was first seen, or since that was of which
 * it is a part or to which it refers, whichever comes first. 0 for one that is allowed whatever its age, undefined for
 * one that was never seen.
 */
export async function opensAt(
  tx: Database,
  rules: AgeRules,
  repo: string,
  digest: string,
  depth = 0,
): Promise<number | undefined> {
  if (rules.allowedDigests.includes(digest)) return 0;
  const noted = await tx
    .selectFrom("upstream_digests")
    .select(["parent", "seen_time"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .orderBy("seen_time")
    .limit(MAX_ROWS)
    .execute();
  const own = noted.filter(({ parent }) => parent === "").map(({ seen_time }) => seen_time + rules.cooldownMs);
  const above = [
    ...noted.map(({ parent }) => parent).filter((parent) => parent !== ""),
    ...(await partOf(tx, repo, digest)),
  ];
  // What came before there was a cooldown was not noted.
  if (noted.length === 0) own.push(...(await storedSince(tx, repo, digest)).map((ms) => ms + rules.cooldownMs));
  if (depth < MAX_DEPTH)
    for (const parent of new Set(above)) {
      const opens = parent === digest ? undefined : await opensAt(tx, rules, repo, parent, depth + 1);
      if (opens !== undefined) own.push(opens);
    }
  return own.length === 0 ? undefined : Math.min(...own);
}

/** The newest digest of a tag that is old enough; undefined for none. */
export async function newestOld(
  { tx, nowMs }: Call,
  rules: AgeRules,
  repo: string,
  tag: string,
): Promise<string | undefined> {
  const rows = await tx
    .selectFrom("upstream_sightings")
    .select("digest")
    .where("repo", "=", repo)
    .where("tag", "=", tag)
    .orderBy("seen_time", "desc")
    .limit(MAX_SIGHTINGS)
    .execute();
  for (const { digest } of rows) {
    const opens = await opensAt(tx, rules, repo, digest);
    if (opens !== undefined && opens <= nowMs) return digest;
  }
  return undefined;
}

/** The manifests that name the digest, and what it refers to, as far as they are here. */
async function partOf(tx: Database, repo: string, digest: string): Promise<string[]> {
  const parents = await tx
    .selectFrom("manifest_references")
    .select("digest")
    .where("repo", "=", repo)
    .where("target", "=", digest)
    .where("kind", "=", "manifest")
    .limit(MAX_ROWS)
    .execute();
  const subjects = await tx
    .selectFrom("manifests")
    .select("subject")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .where("subject", "!=", "")
    .execute();
  return [...parents.map((row) => row.digest), ...subjects.map(({ subject }) => subject)];
}

async function storedSince(tx: Database, repo: string, digest: string): Promise<number[]> {
  const rows = await tx
    .selectFrom("manifests")
    .select("create_time")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .execute();
  return rows.map(({ create_time }) => create_time);
}
