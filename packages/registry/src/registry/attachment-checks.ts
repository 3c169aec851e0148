import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { newUid, parentOf } from "@moorage/kernel/lib/uid";
import { statement } from "@moorage/kernel/store";
import { type RawBuilder, sql } from "kysely";

const addCheck = statement(
  "insert into attachment_checks (id, repo, digest, backlog, create_time) values (?, ?, ?, 0, ?)",
);
const addSignatureCheck = statement(
  "insert into signature_checks (id, repo, digest, backlog, create_time) values (?, ?, ?, 0, ?)",
);
const addSignatureChecksOf = statement(
  `insert into signature_checks (id, repo, digest, backlog, create_time)
   select cast(? as text) || '/' || s.subject, s.repo, s.subject, 0, cast(? as bigint) from signature_sources as s where s.repo = ? and s.manifest = ? and s.until_time is null group by s.repo, s.subject`,
);
// Each subject once: it may be attached in more than one way.
const addChecksOf = statement(
  `insert into attachment_checks (id, repo, digest, backlog, create_time)
   select cast(? as text) || '/' || a.subject, a.repo, a.subject, 0, cast(? as bigint) from attachments as a where a.repo = ? and a.manifest = ? and a.until_time is null
   union select cast(? as text) || '/' || a.subject, a.repo, a.subject, 0, cast(? as bigint) from attachments as a where a.repo = ? and a.via = ? and a.until_time is null`,
);

/** Who attaches something to an image. `mayAdvise`: it holds CAP_ADVISORIES_CREATE on the repo's group. */
export interface Attacher {
  identity: string;
  mayAdvise: boolean;
}

/** The server itself, and whoever is not known: what they attach is a claim. */
export const NO_ATTACHER: Attacher = { identity: "", mayAdvise: false };

/** The caller, as one who attaches something in the repo now. What it may do later changes nothing of it. */
export async function attacherOf({ caller, may }: Call, repo: string): Promise<Attacher> {
  const { identity } = caller;
  if (identity === "") return NO_ATTACHER;
  return { identity, mayAdvise: await may(Capability.CAP_ADVISORIES_CREATE, parentOf(repo)) };
}

/** The tags under which cosign stores what is about a digest. Source: cosign, SIGNATURE_SPEC.md and SBOM_SPEC.md. */
const COSIGN_TAG = /^sha256-([0-9a-f]{64})\.(sbom|att|sig)$/;

type Noting = Pick<Call, "tx" | "nowMs" | "wake">;

/**
 * Notes that what is attached to the digest in the repo may have changed, signatures included. What is attached is
 * looked up after the commit, by security/attached and trust/attached: these are rows that no other transaction writes.
 */
export async function checkAttachments(call: Noting, repo: string, digest: string): Promise<void> {
  await checkDocuments(call, repo, digest);
  await checkSignatures(call, repo, digest);
}

/** The same for attached documents alone. */
export async function checkDocuments({ tx, nowMs, wake }: Noting, repo: string, digest: string): Promise<void> {
  await addCheck(tx, newUid(repo), repo, digest, nowMs);
  wake("images");
}

/** The same for signatures alone. */
export async function checkSignatures({ tx, nowMs, wake }: Noting, repo: string, digest: string): Promise<void> {
  await addSignatureCheck(tx, newUid(repo), repo, digest, nowMs);
  wake("signatures");
}

/** Whether signatures are attached to the digest in the repo, where it need not be stored. */
export function hasSignatures(repo: string, digest: string): RawBuilder<number> {
  return sql`(select count(*) from signature_sources where repo = ${repo} and subject = ${digest} and until_time is null)`;
}

/** Has the signatures of these digests of the repo looked at before all others: somebody waits for them. */
export async function hurrySignatureChecks(
  { tx }: Pick<Call, "tx">,
  repo: string,
  digests: readonly string[],
): Promise<void> {
  await tx
    .updateTable("signature_checks")
    .set({ backlog: -1 })
    .where("repo", "=", repo)
    .where("digest", "in", digests)
    .execute();
}

/** Forgets that the signatures of the digest in the repo were to be looked at: they are being looked at. */
export async function endSignatureChecks({ tx }: Pick<Call, "tx">, repo: string, digest: string): Promise<void> {
  await tx.deleteFrom("signature_checks").where("repo", "=", repo).where("digest", "=", digest).execute();
}

/** Forgets that what is attached to the digest in the repo was to be looked at: it is being looked at. */
export async function endAttachmentChecks({ tx }: Pick<Call, "tx">, repo: string, digest: string): Promise<void> {
  await tx.deleteFrom("attachment_checks").where("repo", "=", repo).where("digest", "=", digest).execute();
}

/** To what cosign attaches what the tag points to, and the tag's ending; undefined for other tags. */
function attachedByTag(tag: string): { digest: string; ending: string } | undefined {
  const found = tag.startsWith("sha256-") ? COSIGN_TAG.exec(tag) : null;
  return found === null ? undefined : { digest: `sha256:${found[1] ?? ""}`, ending: found[2] ?? "" };
}

/** The same for the digest that the tag names, if it is one by which cosign attaches. */
export async function checkAttachmentsOfTag(call: Call, repo: string, tag: string): Promise<void> {
  const found = attachedByTag(tag);
  if (found === undefined) return;
  const { digest, ending } = found;
  if (ending !== "sig") await checkDocuments(call, repo, digest);
  if (ending !== "sbom") await checkSignatures(call, repo, digest);
}

const noteMover = statement("update tags set moved_by = ?, may_advise = ? where uid = ?", ["text", "bigint", "text"]);
const vouchForTag = statement<{ uid: string }>(
  "update tags set moved_by = ?, may_advise = 1 where uid = ? and may_advise = 0 returning uid",
);

/**
 * Notes who made a tag by which cosign attaches point to its digest. One who may write advisories vouches for what it
 * points to already; nobody else takes that back. `moved`: the tag is new, or points to another digest than before.
 */
export async function noteTagAttacher(
  call: Call,
  { repo, name, uid, moved, isSystem }: { repo: string; name: string; uid: string; moved: boolean; isSystem: boolean },
): Promise<void> {
  if (attachedByTag(name) === undefined) return;
  const { identity, mayAdvise } = isSystem ? NO_ATTACHER : await attacherOf(call, repo);
  if (moved) await noteMover(call.tx, identity, mayAdvise ? 1 : 0, uid);
  else if (mayAdvise && (await vouchForTag(call.tx, identity, uid)).length > 0)
    await checkAttachmentsOfTag(call, repo, name);
}

/** The same for documents of the digests to which the manifest is attached, or which it names as an index. */
export async function checkDocumentsBy({ tx, nowMs, wake }: Noting, repo: string, manifest: string): Promise<void> {
  const id = newUid(repo);
  await addChecksOf(tx, id, nowMs, repo, manifest, id, nowMs, repo, manifest);
  wake("images");
}

/** The same with signatures: the manifest is removed. */
export async function checkAttachmentsBy(call: Call, repo: string, manifest: string): Promise<void> {
  const { tx, nowMs, wake } = call;
  await checkDocumentsBy(call, repo, manifest);
  await addSignatureChecksOf(tx, newUid(repo), nowMs, repo, manifest);
  wake("signatures");
}
