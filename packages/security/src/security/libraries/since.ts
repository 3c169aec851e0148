import { sql } from "kysely";
import { isIndexType } from "@moorage/kernel/core/media-types";
import { createTurns } from "@moorage/kernel/lib/turns";
import type { Database } from "@moorage/kernel/store";
import { IS_COUNTED } from "../images/counting-source.ts";
import { imagesIn } from "../images/holdings.ts";
import type { HeldVersions } from "./held-versions.ts";
import type { TaggedImage } from "./images.ts";

const RECORDS = 50;
const MAX_RECORDS = 5_000;

/**
 * Since when each tag has pointed, without a break, to images with the version, in milliseconds since 1970, in the
 * order of the rows. Of a tag's history the last 5,000 records are read. Undefined for a tag without any.
 */
export async function heldSince(
  db: Database,
  held: HeldVersions,
  rows: readonly TaggedImage[],
): Promise<(number | undefined)[]> {
  const known = new Map<string, number | undefined>();
  const turn = createTurns();
  const found: (number | undefined)[] = [];
  for (const { repo, tag, version } of rows) {
    const key = JSON.stringify([repo, tag, version]);
    if (!known.has(key)) known.set(key, await sinceOf(db, repo, tag, held.get(version) ?? []));
    found.push(known.get(key));
    await turn();
  }
  return found;
}

async function sinceOf(
  db: Database,
  repo: string,
  tag: string,
  packages: readonly string[],
): Promise<number | undefined> {
  let sinceMs: number | undefined;
  for (let read = 0; read < MAX_RECORDS; read += RECORDS) {
    const records = await recordsBefore(db, { repo, tag, packages, beforeMs: sinceMs ?? Number.MAX_SAFE_INTEGER });
    for (const { time, held } of records) {
      if (Number(held) === 0) return sinceMs;
      sinceMs = Number(time);
    }
    if (records.length < RECORDS) return sinceMs;
  }
  return sinceMs;
}

/** The last records of the tag before a time, the last first, and whether what it pointed to held a package. */
async function recordsBefore(
  db: Database,
  { repo, tag, packages, beforeMs }: { repo: string; tag: string; packages: readonly string[]; beforeMs: number },
): Promise<{ time: number; held: number }[]> {
  const holds = sql`from manifests as m join image_packages as i on i.digest = m.digest
    where ${IS_COUNTED} and i.package in (${sql.join([...packages])}) and m.repo = h.repo`;
  const { rows } = await sql<{ time: number; held: number }>`select h.time,
    case when exists (select 1 ${holds} and m.digest = h.digest) then 1
      when exists (select 1 ${holds} and m.digest in (select r.target from manifest_references as r
        where r.repo = h.repo and r.digest = h.digest and r.kind = 'manifest')) then 1 else 0 end as held
    from tag_history as h where h.repo = ${repo} and h.tag = ${tag} and h.time < ${beforeMs}
    order by h.time desc limit ${RECORDS}`.execute(db);
  return rows;
}

/**
 * What each image is for: as the index names it that the tag points to, such as `linux/amd64`; else its architecture.
 * Empty when that is not known.
 */
export async function platformsOf(db: Database, rows: readonly TaggedImage[]): Promise<string[]> {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const found: string[] = [];
  for (const { repo, digest, tagDigest } of rows) {
    const key = `${repo} ${tagDigest}`;
    const platforms = known.get(key) ?? (await platformsIn(db, repo, tagDigest));
    known.set(key, platforms);
    found.push(platforms.get(digest) ?? "");
  }
  return found;
}

async function platformsIn(db: Database, repo: string, digest: string): Promise<ReadonlyMap<string, string>> {
  const row = await db
    .selectFrom("manifests")
    .select(["media_type", "content", "architecture"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined) return new Map();
  if (!isIndexType(row.media_type)) return new Map([[digest, row.architecture ?? ""]]);
  return new Map(imagesIn(row.content).map((image) => [image.digest, image.platform]));
}
