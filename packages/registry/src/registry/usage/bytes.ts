import { sql } from "kysely";
import type { Database } from "@moorage/kernel/store";

/** The most links of blobs to repos, and the most manifests, that are counted of a group. */
const MAX_COUNTED = 50_000;

/** The bytes of the images in a group and all below it. */
export interface MeasuredGroup {
  group: string;
  bytes: number;
  /** Whether there is more content than was counted. */
  atLeast: boolean;
}

/** What the images of a group, with all below it, take up: each content counted once. */
export async function bytesOf(db: Database, group: string): Promise<MeasuredGroup> {
  // The uid of a descendant continues its ancestor's with a "/", which "0" follows.
  const end = `${group}0`;
  const links = sql`select digest from repo_blobs where repo >= ${group} and repo < ${end} limit ${MAX_COUNTED}`;
  const sizes = sql`select size from manifests where repo >= ${group} and repo < ${end} limit ${MAX_COUNTED}`;
  const { rows } = await sql<Record<"links" | "blobs" | "manifests" | "sizes", number>>`
    select (select count(*) from (${links}) as c) as links,
      (select coalesce(sum(b.size), 0) from (select distinct digest from (${links}) as l) as d
        join blobs as b on b.digest = d.digest) as blobs,
      (select count(*) from (${sizes}) as c) as manifests,
      (select coalesce(sum(size), 0) from (${sizes}) as m) as sizes`.execute(db);
  const { links: linked = 0, blobs = 0, manifests = 0, sizes: sum = 0 } = rows[0] ?? {};
  return {
    group,
    bytes: Number(blobs) + Number(sum),
    atLeast: Number(linked) === MAX_COUNTED || Number(manifests) === MAX_COUNTED,
  };
}
