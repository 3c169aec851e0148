import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GroupStorageSchema } from "@moorage/api/messages";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "@moorage/kernel/store";
import { imagePaths } from "../image-paths.ts";

/** The most links of blobs to repos, the most manifests and the most libraries that are counted in one row. */
const MAX_COUNTED = 50_000;
const LARGEST = 20;

/** A group whose content is counted: with all below it, or the repos directly in it. */
export interface CountedGroup {
  uid: string;
  name: string;
  own: boolean;
  /** The group that other rows are of, too; undefined when what they share is not counted. */
  within?: string | undefined;
}

/** What is stored in a group, and how many rows were read for that. */
export async function storageOf(
  db: Database,
  group: CountedGroup,
): Promise<{ storage: MessageInitShape<typeof GroupStorageSchema>; looked: number }> {
  const { uid, name, own } = group;
  const links = linksOf(group);
  const { rows: totals } = await sql<Record<"links" | "blobs" | "bytes" | "shared", number>>`
    select (select count(*) from (${links}) as c) as links, count(*) as blobs, coalesce(sum(b.size), 0) as bytes,
    coalesce(sum(case when ${heldElsewhere(group)} then b.size else 0 end), 0) as shared
    from (select distinct digest from (${links}) as l) as d join blobs as b on b.digest = d.digest`.execute(db);
  const { rows: sizes } = await sql<Record<"manifests" | "bytes", number>>`
    select count(*) as manifests, coalesce(sum(size), 0) as bytes from (${manifestsOf(group)}) as m`.execute(db);
  const { rows: largest } = await sql<{ repo: string; bytes: number; blobs: number }>`
    select l.repo, sum(b.size) as bytes, count(*) as blobs from (${links}) as l join blobs as b on b.digest = l.digest
    group by l.repo order by sum(b.size) desc, l.repo limit ${LARGEST}`.execute(db);
  const { rows: libraries } = await sql<Record<"artifacts" | "bytes", number>>`
    select count(*) as artifacts, coalesce(sum(size_bytes), 0) as bytes from (${artifactsOf(group)}) as a`.execute(db);
  const names = await imagePaths(db).ofUids(largest.map(({ repo }) => repo));
  const [total, size, library] = [totals[0], sizes[0], libraries[0]];
  const [counted, manifests] = [Number(total?.links ?? 0), Number(size?.manifests ?? 0)];
  const artifacts = Number(library?.artifacts ?? 0);
  return {
    storage: {
      groupUid: uid,
      name,
      own,
      blobBytes: BigInt(total?.bytes ?? 0),
      sharedBytes: BigInt(total?.shared ?? 0),
      manifestBytes: BigInt(size?.bytes ?? 0),
      blobs: BigInt(total?.blobs ?? 0),
      manifests: BigInt(manifests),
      repos: BigInt(await countOf(db, "repos", group)),
      tags: BigInt(await countOf(db, "tags", group)),
      libraries: BigInt(artifacts),
      libraryBytes: BigInt(library?.bytes ?? 0),
      truncated: [counted, manifests, artifacts].includes(MAX_COUNTED),
      largestRepos: largest.map(({ repo, bytes, blobs }) => ({
        repoUid: repo,
        name: names.get(repo) ?? "",
        blobBytes: BigInt(bytes),
        blobs: BigInt(blobs),
      })),
    },
    looked: counted + manifests + artifacts,
  };
}

// The uid of a descendant continues its ancestor's with a "/", which "0" follows.
const endOf = (uid: string): string => `${uid}0`;

function linksOf({ uid, own }: CountedGroup): RawBuilder<unknown> {
  return own
    ? sql`select l.repo, l.digest from repos as r join repo_blobs as l on l.repo = r.uid where r.parent = ${uid} limit ${MAX_COUNTED}`
    : sql`select repo, digest from repo_blobs where repo >= ${uid} and repo < ${endOf(uid)} limit ${MAX_COUNTED}`;
}

function manifestsOf({ uid, own }: CountedGroup): RawBuilder<unknown> {
  return own
    ? sql`select m.size from repos as r join manifests as m on m.repo = r.uid where r.parent = ${uid} limit ${MAX_COUNTED}`
    : sql`select size from manifests where repo >= ${uid} and repo < ${endOf(uid)} limit ${MAX_COUNTED}`;
}

function artifactsOf({ uid, own }: CountedGroup): RawBuilder<unknown> {
  return own
    ? sql`select size_bytes from artifacts where parent = ${uid} limit ${MAX_COUNTED}`
    : sql`select size_bytes from artifacts where uid >= ${uid} and uid < ${endOf(uid)} limit ${MAX_COUNTED}`;
}

// Looked for within the named group alone: what others hold is not for the caller to know.
function heldElsewhere({ uid, own, within }: CountedGroup): RawBuilder<unknown> {
  if (within === undefined) return sql`1 = 0`;
  const held = sql`select 1 from repo_blobs as o where o.digest = d.digest and`;
  const [from, to] = [within, endOf(within)];
  // Repos directly in the group have one more level in their uid than it has; all others there have more.
  return own
    ? sql`exists (${held} o.repo >= ${from} and o.repo < ${to} and length(o.repo) > ${from.length + LEVEL})`
    : sql`(exists (${held} o.repo >= ${from} and o.repo < ${uid}) or exists (${held} o.repo >= ${endOf(uid)} and o.repo < ${to}))`;
}
const LEVEL = "/0123456789abcdef".length;

async function countOf(db: Database, kind: "repos" | "tags", { uid, own }: CountedGroup): Promise<number> {
  const counter = sql`select coalesce(sum(n), 0) as n from counters where kind = ${kind}`;
  const counted =
    own && kind === "repos"
      ? sql<{ n: number }>`select count(*) as n from repos where parent = ${uid}`
      : own
        ? sql<{ n: number }>`${counter} and ancestor in (select uid from repos where parent = ${uid})`
        : sql<{ n: number }>`${counter} and ancestor = ${uid}`;
  return Number((await counted.execute(db)).rows[0]?.n ?? 0);
}
