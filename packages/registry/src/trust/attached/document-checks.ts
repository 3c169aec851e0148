import type { Call } from "@moorage/kernel/core/call";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { select } from "@moorage/kernel/store";
import { checkDocuments, checkDocumentsBy } from "../../registry/index.ts";

/** The most repos of one manifest whose documents are judged again. */
const MAX_REPOS = 1_000;

/**
 * Has documents judged again whose signatures may have changed, where a policy says whose documents count: those that
 * are attached to the subject, and the subject itself where it holds or names some.
 */
export async function checkSignedDocuments(
  call: Call,
  { subject, manifest }: { subject: string; manifest: string },
): Promise<void> {
  const rows = await select<{ repo: string }>(
    call.tx,
    `select distinct s.repo from signature_sources as s where s.subject = ? and s.manifest = ? and s.until_time is null
     and exists (select 1 from signature_policies as p where p.document_signers <> '[]') order by s.repo limit ${MAX_REPOS}`,
    [subject, manifest],
  );
  for (const { repo } of rows) await checkSignedDocumentsIn(call, repo, subject);
}

/** The same in one repo. */
export async function checkSignedDocumentsIn(call: Call, repo: string, subject: string): Promise<void> {
  const groups = ancestorsOf(repo);
  const asked = await select(
    call.tx,
    `select 1 from signature_policies where parent in (${groups.map(() => "?").join(", ")}) and document_signers <> '[]' limit 1`,
    groups,
  );
  if (asked.length === 0) return;
  await checkDocuments(call, repo, subject);
  await checkDocumentsBy(call, repo, subject);
}
