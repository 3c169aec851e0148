import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Attachment_State as State, type AttachmentSchema } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { type Database, select } from "@moorage/kernel/store";
import { documentPoliciesOf, documentSigners, judgeDocuments } from "@moorage/registry/trust";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { unmatchedStatements } from "./unmatched-statements.ts";
import { IS_SIGNED_AS_ASKED, isInLayers } from "../attached/layers.ts";
import { countingSources, LINE, sourceOf } from "../attached/sources.ts";

interface Listed {
  manifest: string;
  from_time: number;
  attached_by: string;
  trusted: number;
  via: string;
  layers: string;
  state: number;
  failure: string;
  n: number | null;
  layer: string | null;
  media_type: string | null;
  kind: string | null;
  reason: string | null;
  packages: number | null;
  statements: number | null;
  passed_over: number | null;
}

/**
 * What is attached to the digest in the repo now, the last attached first: an entry for each document. `isListed`: with
 * the statements that are about nothing here.
 */
export async function attachmentsOf(
  call: Pick<Call, "tx" | "weigh" | "nowMs">,
  { repo, digest, isListed }: { repo: string; digest: string; isListed: boolean },
): Promise<MessageInitShape<typeof AttachmentSchema>[]> {
  const { tx, nowMs } = call;
  const rows = await select<Listed>(
    tx,
    `select a.manifest, a.from_time, a.attached_by, a.trusted, a.via, a.layers, r.state, r.reason as failure, d.n, d.layer, d.media_type, d.kind, d.reason, d.packages, d.statements, d.passed_over
     from attachments as a join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest
     left join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest
     where a.repo = ? and a.subject = ? and a.until_time is null order by a.from_time desc, d.time desc, a.manifest, d.n`,
    [repo, digest],
  );
  const sources = (await countingSources(tx, { repo, digest })).map(({ source }) => source);
  const counting = new Set(sources);
  const unmatched = await unmatchedStatements(call, { repo, digest, sources, isListed });
  const manifests = [...new Set(rows.map(({ manifest }) => manifest))];
  const signers = await documentSigners(tx, { repo, subject: digest, manifests, nowMs });
  const lackOf = await signaturesLacking(call, { repo, digest, rows });
  // A manifest that holds none of the documents, such as a signature, is not one of them.
  return rows
    .filter(({ state, n }) => n !== null || state !== CATALOG_STATE.done)
    .map((row) => {
      const common = {
        manifest: row.manifest,
        attachTime: timestampFromMs(row.from_time),
        trusted: row.trusted === 1,
        attachedBy: row.attached_by,
        signers: signers(row.manifest, (row.n ?? 0) % LINE),
      };
      if (row.state === CATALOG_STATE.waiting) return { ...common, state: State.WAITING };
      if (row.n === null) return { ...common, state: State.REJECTED, reason: row.failure };
      const source = sourceOf(row.manifest, row.n);
      const lack = lackOf(row.manifest, row.n);
      const reason = row.reason === "" && !isInLayers(row.layers, row.n) ? lack || NOT_JUDGED : (row.reason ?? "");
      return {
        ...common,
        source,
        layer: row.layer ?? "",
        mediaType: row.media_type ?? "",
        kind: row.kind ?? "",
        state: reason === "" ? State.READ : State.REJECTED,
        reason,
        signatureReason: lack,
        packages: row.packages ?? 0,
        statements: row.statements ?? 0,
        statementsTotal: (row.statements ?? 0) + (row.passed_over ?? 0),
        statementsUnmatched: (unmatched.get(source)?.count ?? 0) + (row.passed_over ?? 0),
        unmatched: unmatched.get(source)?.first ?? [],
        counts: counting.has(source),
      };
    });
}

const NOT_JUDGED = "not signed as a policy asked: that is looked at again now";

/** What policies whose documents count find lacking in a document, in words; empty for nothing. */
async function signaturesLacking(
  { tx, nowMs }: Pick<Call, "tx" | "nowMs">,
  { repo, digest, rows }: { repo: string; digest: string; rows: readonly Listed[] },
): Promise<(manifest: string, n: number) => string> {
  const policies = await documentPoliciesOf(tx, repo, nowMs);
  if (policies.length === 0) return () => "";
  const attached = [...new Map(rows.map(({ manifest, via }) => [manifest, { manifest, via }])).values()];
  const { of } = await judgeDocuments(tx, { repo, subject: digest, attached, policies, nowMs });
  return (manifest, n) =>
    (of.get(manifest) ?? [])
      .filter(({ layers }) => layers !== undefined && !layers.has(n))
      .map(({ policy, reason }) => (policy.enforces ? reason : `${reason} (in preview)`))
      .join("; ");
}

/** How many of the documents do not count because a policy asks for a signature that they lack. */
export async function countUnsigned(tx: Database, { repo, digest }: { repo: string; digest: string }): Promise<number> {
  const [row] = await select<{ n: number | string }>(
    tx,
    `select count(*) as n from attachments as a
     join attached_readings as r on r.subject = a.subject and r.manifest = a.manifest and r.state = ${CATALOG_STATE.done}
     join attached_documents as d on d.subject = a.subject and d.manifest = a.manifest and d.reason = ''
     where a.repo = ? and a.subject = ? and a.until_time is null and not ${IS_SIGNED_AS_ASKED}`,
    [repo, digest],
  );
  return Number(row?.n ?? 0);
}
