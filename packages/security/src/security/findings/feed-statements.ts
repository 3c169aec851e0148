import { pathOf } from "@moorage/kernel/core/image-path";
import type { PurlOfPackage } from "@moorage/kernel/lib/purls";
import { type Database, select } from "@moorage/kernel/store";
import { type FeedStatement, isAnythingStated, keysInUse, statementsOn } from "../trusted/read.ts";
import { imageKeys, productKeysOf, targetIn } from "../vex/trust.ts";
import { isAbout, statedPackage } from "../vex/applies.ts";
import { packagesNamed } from "../packages/candidates.ts";
import type { ReadingLimits } from "../attached/statements.ts";
import type { ImageAsOf } from "../images/image-packages.ts";
import { marks } from "../marks.ts";

/** A vulnerability, by its ids, in a package. */
export interface AboutPackage extends PurlOfPackage {
  ids: readonly string[];
}

/** The latest statement of a feed about it; undefined when there is none. */
export type LatestOfFeeds = (about: AboutPackage) => FeedStatement | undefined;

const ROWS = 200;
const NONE: LatestOfFeeds = () => undefined;

/**
 * What feeds say of vulnerabilities in the image, as far as they may decide about it or its packages. Found by the
 * packages and the ids: what is said of others is not read. `sources`: whose packages count.
 */
export async function feedStatements(
  db: Database,
  { repo, digest, atMs }: ImageAsOf,
  sources: readonly string[],
  all: readonly AboutPackage[],
  { turn }: Pick<ReadingLimits, "turn"> = {},
): Promise<LatestOfFeeds> {
  if (!(await isAnythingStated(db))) return NONE;
  const path = await pathOf(db, repo);
  const keyed: { ids: string[]; keys: string[] }[] = [];
  for (const { ids, ...held } of all) {
    keyed.push({ ids: lowered(ids), keys: productKeysOf(held) });
    await turn?.();
  }
  const ofImage = await keysInUse(db, imageKeys(path));
  const inUse = new Set(
    await keysInUse(
      db,
      keyed.flatMap(({ keys }) => keys),
      turn,
    ),
  );
  const pairs = new Map<string, [string, string]>();
  for (const { ids, keys } of keyed) {
    for (const id of ids)
      for (const each of [...keys.filter((key) => inUse.has(key)), ...ofImage]) pairs.set(`${each}\n${id}`, [each, id]);
    await turn?.();
  }
  if (pairs.size === 0) return NONE;
  const held = new Map<string, boolean>();
  // The latest come first.
  const byId = new Map<string, { target: string; statement: FeedStatement; rank: number }[]>();
  let rank = 0;
  for (const statement of await statementsOn(db, [...pairs.values()], atMs, turn)) {
    await turn?.();
    const found = targetIn(statement, { path, digest });
    if (found === undefined) continue;
    const { target, within } = found;
    if (within !== undefined) {
      const isHeld = held.get(within) ?? (await holds(db, digest, sources, within));
      held.set(within, isHeld);
      if (!isHeld) continue;
    }
    rank += 1;
    for (const id of statement.ids) {
      const known = byId.get(id);
      if (known === undefined) byId.set(id, [{ target, statement, rank }]);
      else known.push({ target, statement, rank });
    }
  }
  return ({ ids, ...of }) => {
    const about = lowered(ids).flatMap((id) => byId.get(id)?.find(({ target }) => isAbout(target, of)) ?? []);
    return about.sort((a, b) => a.rank - b.rank)[0]?.statement;
  };
}

const lowered = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];

/** Whether the image holds a package that the purl means. */
async function holds(db: Database, digest: string, sources: readonly string[], purl: string): Promise<boolean> {
  if (sources.length === 0) return false;
  const packages = (await packagesNamed(db, [purl])).filter((row) => isAbout(purl, statedPackage(row)));
  for (let at = 0; at < packages.length; at += ROWS) {
    const ids = packages.slice(at, at + ROWS).map(({ id }) => id);
    const rows = await select(
      db,
      `select 1 from image_packages where package in (${marks(ids)}) and digest = ? and source in (${marks(sources)}) limit 1`,
      [...ids, digest, ...sources],
    );
    if (rows.length > 0) return true;
  }
  return false;
}
