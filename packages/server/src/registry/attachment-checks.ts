import type { Call } from "../core/call.ts";
import { newUid } from "../lib/uid.ts";
import { statement } from "../store/index.ts";

const addCheck = statement(
  "insert into attachment_checks (id, repo, digest, backlog, create_time) values (?, ?, ?, 0, ?)",
);
// Each subject once: it may be attached in more than one way.
const addChecksOf = statement(
  `insert into attachment_checks (id, repo, digest, backlog, create_time)
   select cast(? as text) || '/' || a.subject, a.repo, a.subject, 0, cast(? as bigint) from attachments as a where a.repo = ? and a.manifest = ? and a.until_time is null
   union select cast(? as text) || '/' || a.subject, a.repo, a.subject, 0, cast(? as bigint) from attachments as a where a.repo = ? and a.via = ? and a.until_time is null`,
);

/** The tags under which cosign stores what is about a digest. Source: cosign, SIGNATURE_SPEC.md and SBOM_SPEC.md. */
const COSIGN_TAG = /^sha256-([0-9a-f]{64})\.(?:sbom|att)$/;

/**
 * Notes that what is attached to the digest in the repo may have changed. What is attached is looked up after the
 * commit, by security/attached: this is one row, which no other transaction writes.
 */
export async function checkAttachments({ tx, nowMs }: Call, repo: string, digest: string): Promise<void> {
  await addCheck(tx, newUid(repo), repo, digest, nowMs);
}

/** The same for the digest that the tag names, if it is one by which cosign attaches. */
export async function checkAttachmentsOfTag(call: Call, repo: string, tag: string): Promise<void> {
  const hex = tag.startsWith("sha256-") ? COSIGN_TAG.exec(tag)?.[1] : undefined;
  if (hex !== undefined) await checkAttachments(call, repo, `sha256:${hex}`);
}

/** The same for the digests to which the manifest is attached, or which it names as an index: it is removed. */
export async function checkAttachmentsBy({ tx, nowMs }: Call, repo: string, manifest: string): Promise<void> {
  const id = newUid(repo);
  await addChecksOf(tx, id, nowMs, repo, manifest, id, nowMs, repo, manifest);
}
