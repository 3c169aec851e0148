import { SignatureState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { isImageType, isIndexType, OCI_INDEX } from "@moorage/kernel/core/media-types";
import { isObject } from "@moorage/kernel/lib/json";
import { type Database, select } from "@moorage/kernel/store";
import { askedBy, documentPoliciesOf, judgeDocuments, layersSigned } from "@moorage/registry/trust";
import { sql } from "kysely";
import { layersText, NO_LAYERS } from "./layers.ts";
import { mayHoldDocuments } from "./media-types.ts";
import { withoutOwn } from "./own-vex.ts";

/** The most manifests that count as attached to a digest, and the most indexes that are looked at. */
const MAX_ATTACHED = 100;
const MAX_REFERRERS = 1_000;
const MAX_INDEXES = 20;
const MAX_INDEX_BYTES = 1 << 20;

const TYPE = "vnd.docker.reference.type";
const ATTESTED = "vnd.docker.reference.digest";

/** How a manifest is attached, and on whose word: see the table `attachments`. */
export interface Relation {
  /** Empty for a referrer; else a tag of cosign's, or the index that names both. */
  via: string;
  attachedBy: string;
  trusted: boolean;
  /** See the column `layers` of attachments. */
  layers: string;
}

/** What is attached to a digest now, and by which policies it was judged whose documents count. */
export interface Relations {
  found: Map<string, Relation>;
  /** See the columns of attachments. */
  asked: string;
  recheckMs: number | null;
}

/** The most manifests whose signatures are looked at for one digest. */
const MAX_JUDGED = 1_500;

/**
 * The manifests that are attached to the digest in the repo now, each with how; of several ways of one manifest one
 * that is trusted. At most MAX_ATTACHED: first what is signed where a policy asks for that, then what is trusted, so
 * that nobody pushes that out, then the newest of each way.
 */
export async function relationsOf(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  repo: string,
  digest: string,
): Promise<Relations> {
  const policies = (await documentPoliciesOf(tx, repo, nowMs)).filter(({ enforces }) => enforces);
  const all: [manifest: string, relation: Relation][] = [];
  const add = (manifest: string, via: string, { by, may }: Word): void =>
    void all.push([manifest, { via, attachedBy: by, trusted: may === 1, layers: "" }]);
  for (const { manifest, artifact_type: type, media_type: media, ...word } of await withoutOwn(
    tx,
    await referrersOf(tx, { repo, digest, isSignedFirst: policies.length > 0 }),
  ))
    if (isImageType(media) && mayHoldDocuments(type)) add(manifest, "", word);
  for (const { name, manifest, ...word } of await taggedFor(tx, repo, digest)) add(manifest, name, word);
  for (const { digest: index, content, ...word } of await indexesAbove(tx, repo, digest))
    for (const entry of attestationsIn(content)) if (entry.attested === digest) add(entry.digest, index, word);
  const found = new Map<string, Relation>();
  for (const [manifest, relation] of all.sort(([, a], [, b]) => Number(b.trusted) - Number(a.trusted)))
    if (!found.has(manifest)) found.set(manifest, relation);
  const { first, recheckMs } = await signedFirst(tx, { repo, subject: digest, found, policies, nowMs });
  const attached = new Map([...first].slice(0, MAX_ATTACHED));
  return { found: await held(tx, repo, attached), asked: askedBy(policies), recheckMs };
}

/** Those first of which something counts by the policies, with what does. */
async function signedFirst(
  tx: Database,
  {
    found,
    ...asked
  }: {
    repo: string;
    subject: string;
    found: ReadonlyMap<string, Relation>;
    policies: Parameters<typeof judgeDocuments>[1]["policies"];
    nowMs: number;
  },
): Promise<{ first: Iterable<[string, Relation]>; recheckMs: number | null }> {
  if (asked.policies.length === 0) return { first: found, recheckMs: null };
  const some = [...found].slice(0, MAX_JUDGED);
  const attached = some.map(([manifest, { via }]) => ({ manifest, via }));
  const { of, untilMs } = await judgeDocuments(tx, { ...asked, attached });
  const judged = some.map(([manifest, relation]): [string, Relation] => {
    const layers = layersText(layersSigned(of.get(manifest) ?? []));
    return [manifest, { ...relation, layers }];
  });
  const counts = ([, { layers }]: [string, Relation]): number => (layers === NO_LAYERS ? 0 : 1);
  const first = judged.toSorted((one, other) => counts(other) - counts(one));
  return { first, recheckMs: Number.isFinite(untilMs) ? untilMs : null };
}

/** Who pushed or tagged it, and 1 if it might write advisories then. */
interface Word {
  by: string;
  may: number;
}

/** The digests that the manifest, if it is an index, names with attestations. */
export async function attestedBy(tx: Database, repo: string, digest: string): Promise<string[]> {
  const row = await tx
    .selectFrom("manifests")
    .select(["media_type", "content"])
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined || !isIndexType(row.media_type)) return [];
  return [...new Set(attestationsIn(row.content).map(({ attested }) => attested))].slice(0, MAX_ATTACHED);
}

const IS_SIGNED = sql`exists (select 1 from signature_verdicts as v where v.state = ${sql.lit(SignatureState.TRUSTED)}
  and ((v.subject = manifests.subject and v.manifest = manifests.digest) or v.subject = manifests.digest))`;

async function referrersOf(
  tx: Database,
  { repo, digest, isSignedFirst }: { repo: string; digest: string; isSignedFirst: boolean },
): Promise<(Word & { manifest: string; artifact_type: string; media_type: string; annotations: string })[]> {
  return await tx
    .selectFrom("manifests")
    .select([
      "digest as manifest",
      "artifact_type",
      "media_type",
      "annotations",
      "pushed_by as by",
      "may_advise as may",
    ])
    .where("repo", "=", repo)
    .where("subject", "=", digest)
    // What somebody trusted has signed, so that others do not crowd it out.
    .$if(isSignedFirst, (query) => query.orderBy(sql`case when ${IS_SIGNED} then 0 else 1 end`))
    .orderBy("may_advise", "desc")
    .orderBy("create_time", "desc")
    .orderBy("digest")
    .limit(MAX_REFERRERS)
    .execute();
}

async function taggedFor(
  tx: Database,
  repo: string,
  digest: string,
): Promise<(Word & { name: string; manifest: string })[]> {
  const tag = digest.replace(":", "-");
  return await tx
    .selectFrom("tags")
    .select(["name", "digest as manifest", "moved_by as by", "may_advise as may"])
    .where("parent", "=", repo)
    .where("name", "in", [`${tag}.att`, `${tag}.sbom`])
    .orderBy("name")
    .execute();
}

async function indexesAbove(
  tx: Database,
  repo: string,
  digest: string,
): Promise<(Word & { digest: string; content: Uint8Array })[]> {
  return await select(
    tx,
    `select m.digest, m.content, m.pushed_by as "by", m.may_advise as may from manifest_references as r join manifests as m on m.repo = r.repo and m.digest = r.digest
     where r.repo = ? and r.target = ? and m.media_type = '${OCI_INDEX}' and m.size <= ${MAX_INDEX_BYTES}
     order by m.may_advise desc, m.create_time desc, m.digest limit ${MAX_INDEXES}`,
    [repo, digest],
  );
}

/** The attestation manifests that an index names, and of what. Source: BuildKit, attestation-storage.md. */
function attestationsIn(content: Uint8Array): { digest: string; attested: string }[] {
  const { manifests = [] } = JSON.parse(Buffer.from(content).toString()) as {
    manifests?: { digest: string; annotations?: Record<string, string> | null }[];
  };
  return manifests.flatMap(({ digest, annotations }) => {
    const attested = isObject(annotations) ? annotations[ATTESTED] : undefined;
    return attested !== undefined && annotations?.[TYPE] === "attestation-manifest" ? [{ digest, attested }] : [];
  });
}

/** Those of the manifests that the repo holds as such. */
async function held(tx: Database, repo: string, found: Map<string, Relation>): Promise<Map<string, Relation>> {
  if (found.size === 0) return found;
  const rows = await tx
    .selectFrom("manifests")
    .select(["digest", "media_type"])
    .where("repo", "=", repo)
    .where("digest", "in", [...found.keys()])
    .execute();
  const there = new Set(rows.filter(({ media_type: type }) => isImageType(type)).map(({ digest }) => digest));
  return new Map([...found].filter(([manifest]) => there.has(manifest)));
}
