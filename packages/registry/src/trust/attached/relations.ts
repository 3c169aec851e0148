import { OCI_INDEX } from "@moorage/kernel/core/media-types";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";
import { BUNDLE_PREFIX, SIGNED_TYPES } from "./formats.ts";

/** The most manifests with signatures of a digest that are looked at. */
export const MAX_MANIFESTS = 100;

/** How a manifest is attached: by a tag of cosign's, or, when `via` is empty, as a referrer. */
export interface Relation {
  manifest: string;
  via: string;
  attachedBy: string;
}

const types = SIGNED_TYPES.map((type) => `'${type}'`).join(", ");
const IS_SIGNED = `(m.artifact_type in (${types}) or m.artifact_type like '${BUNDLE_PREFIX}%') and m.media_type <> '${OCI_INDEX}'`;

/**
 * The manifests with signatures that are attached to the digest in the repo now: what the tags of cosign point to, then
 * referrers. Of these come first those that a signer of the repo's groups trusts now; of the others the oldest of each
 * who pushed some, then the second of each, and so on: whoever pushes many crowds out neither what is trusted nor what
 * others push. What signers of other groups trust does not count: anybody may have one for what he signs himself.
 */
export async function relationsOf(tx: Database, repo: string, digest: string, nowMs: number): Promise<Relation[]> {
  const found = await taggedFor(tx, repo, digest);
  const groups = ancestorsOf(repo);
  const referrers = await select<Relation & { by: string }>(
    tx,
    `select r.manifest, r.by, r.trusted, r.place, r.create_time from (
       select m.digest as manifest, m.pushed_by as "by", m.create_time,
         case when exists (select 1 from signature_verdicts as v join signers as s on s.uid = v.signer
           where v.subject = m.subject and v.manifest = m.digest and v.state = 1
             and v.from_time <= cast(? as bigint) and (v.until_time is null or v.until_time > cast(? as bigint))
             and s.parent in (${groups.map(() => "?").join(", ")})) then 0 else 1 end as trusted,
         row_number() over (partition by m.pushed_by order by m.create_time, m.digest) as place
       from manifests as m where m.repo = ? and m.subject = ? and ${IS_SIGNED}
     ) as r order by r.trusted, r.place, r.create_time, r.manifest limit ${MAX_MANIFESTS}`,
    [nowMs, nowMs, ...groups, repo, digest],
  );
  for (const { manifest, by } of referrers)
    if (found.length < MAX_MANIFESTS && !found.some((each) => each.manifest === manifest))
      found.push({ manifest, via: "", attachedBy: by });
  return found;
}

/** How many manifests with signatures are attached to the digest as referrers, at most `most` of them counted. */
export async function countReferrers(tx: Database, repo: string, digest: string, most: number): Promise<number> {
  const [row] = await select<{ n: number | string }>(
    tx,
    `select count(*) as n from (select 1 from manifests as m where m.repo = ? and m.subject = ? and ${IS_SIGNED} limit ${most}) as c`,
    [repo, digest],
  );
  return Number(row?.n ?? 0);
}

async function taggedFor(tx: Database, repo: string, digest: string): Promise<Relation[]> {
  const tag = digest.replace(":", "-");
  const rows = await tx
    .selectFrom("tags as t")
    .innerJoin("manifests as m", (on) => on.onRef("m.repo", "=", "t.parent").onRef("m.digest", "=", "t.digest"))
    .select(["t.name", "t.digest as manifest", "t.moved_by as by"])
    .where("t.parent", "=", repo)
    .where("t.name", "in", [`${tag}.sig`, `${tag}.att`])
    .orderBy("t.name", "desc")
    .execute();
  return rows.map(({ name, manifest, by }) => ({ manifest, via: name, attachedBy: by }));
}
