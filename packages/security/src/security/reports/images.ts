import { Capability } from "@moorage/api/messages";
import { sql } from "kysely";
import { within } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";

/** An image of a repo. */
export interface ReportedImage {
  repo: string;
  digest: string;
}

/** Which images; empty for all. */
export interface ReportedImages {
  repo: string;
  digest: string;
  tag: string;
}

const ROWS = 500;

/**
 * The images whose vulnerability reports the caller may list, some at a time: those that tags point to, or with a
 * digest those of repos that hold it. An image that is in several repos is there once for each.
 */
export async function* reportedImages(
  call: Call,
  wanted: ReportedImages,
): AsyncGenerator<ReportedImage[], void, undefined> {
  const roots = await call.visible(Capability.CAP_VULN_REPORT_LIST);
  if (roots.length === 0) return;
  const isTagged = wanted.tag !== "" || wanted.digest === "";
  // Of a tag and of a manifest in a repo: where its digest and its repo stand, the order, and the scope.
  const from = isTagged
    ? sql`(select distinct t.parent as repo, t.digest from tags as t where ${within(roots)}
        ${wanted.repo === "" ? sql`` : sql`and t.parent = ${wanted.repo}`}
        ${wanted.tag === "" ? sql`` : sql`and t.name = ${wanted.tag}`}) as i`
    : sql`(select m.repo, m.digest from manifests as m join repos as t on t.uid = m.repo
        where m.digest = ${wanted.digest} and ${within(roots)}
        ${wanted.repo === "" ? sql`` : sql`and m.repo = ${wanted.repo}`}) as i`;
  const ofDigest = wanted.digest === "" ? sql`` : sql`and i.digest = ${wanted.digest}`;
  let [repo, digest] = ["", ""];
  for (;;) {
    const { rows } = await sql<ReportedImage>`select i.repo, i.digest from ${from}
      where (i.repo > ${repo} or (i.repo = ${repo} and i.digest > ${digest})) ${ofDigest}
      order by i.repo, i.digest limit ${ROWS}`.execute(call.tx);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS) return;
    [repo, digest] = [last.repo, last.digest];
    call.requireCaller();
  }
}
