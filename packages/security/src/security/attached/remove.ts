import { setTimeout as wait } from "node:timers/promises";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { checkDocuments } from "@moorage/registry/registry";
import { select, takeAdvisoryLock } from "@moorage/kernel/store";
import { CATALOGING } from "../catalog/command-options.ts";
import { deletePackages } from "../catalog/remove.ts";
import { checkDocumentsOfOtherPolicies } from "./document-policies.ts";

const PAGE = 100;
const PAUSE_MS = 20;

/** The last attachment of a page. */
type AttachmentPage = readonly [repo: string, subject: string, manifest: string, from: number];

/**
 * Goes over a page of attachments: those of an image that the repo does not have any longer go, once they have ended;
 * those whose manifest is gone are looked at again. Answers where the next page begins, undefined after the last.
 */
export const reviewAttachments = command(
  "security.reviewAttachments",
  async (
    { tx, nowMs, wake }: Call,
    { after }: { after: AttachmentPage },
  ): Promise<{ next?: AttachmentPage; removed: number }> => {
    await takeAdvisoryLock(tx, "catalogs");
    const rows = await select<{
      repo: string;
      subject: string;
      manifest: string;
      from_time: number;
      until_time: number | null;
      has_subject: number;
      has_manifest: number;
      asked: string;
    }>(
      tx,
      `select a.repo, a.subject, a.manifest, a.from_time, a.until_time, a.asked,
         case when exists (select 1 from manifests as m where m.repo = a.repo and m.digest = a.subject) then 1 else 0 end as has_subject,
         case when exists (select 1 from manifests as m where m.repo = a.repo and m.digest = a.manifest) then 1 else 0 end as has_manifest
       from attachments as a where (a.repo, a.subject, a.manifest, a.from_time) > (?, ?, ?, ?)
       order by a.repo, a.subject, a.manifest, a.from_time limit ${PAGE}`,
      after,
    );
    let removed = 0;
    for (const { repo, subject, manifest, from_time, until_time, ...has } of rows) {
      if (until_time !== null && has.has_subject === 0) {
        await tx
          .deleteFrom("attachments")
          .where("repo", "=", repo)
          .where("subject", "=", subject)
          .where("manifest", "=", manifest)
          .where("from_time", "=", from_time)
          .execute();
        removed += 1;
      } else if (until_time === null && has.has_manifest === 0) {
        await checkDocuments({ tx, nowMs, wake }, repo, subject);
      }
    }
    // A repo or a group may have another name than before, by which policies cover it.
    const open = rows.filter(({ until_time }) => until_time === null);
    await checkDocumentsOfOtherPolicies({ tx, nowMs, wake }, open);
    const last = rows.at(-1);
    return rows.length < PAGE || last === undefined
      ? { removed }
      : { next: [last.repo, last.subject, last.manifest, last.from_time], removed };
  },
  CATALOGING,
);

/** Removes what was read of the manifest, unless it is or was attached somewhere. Answers false when some is left. */
export const removeAttached = command(
  "security.removeAttached",
  async (
    { tx }: Call,
    { subject, manifest }: { subject: string; manifest: string },
  ): Promise<{ done: boolean; removed: boolean }> => {
    await takeAdvisoryLock(tx, "catalogs");
    const held = await tx
      .selectFrom("attachments")
      .select("repo")
      .where("subject", "=", subject)
      .where("manifest", "=", manifest)
      .limit(1)
      .executeTakeFirst();
    if (held !== undefined) return { done: true, removed: false };
    // Of every layer, those of attempts that ended in the middle included: 0 is the character behind the slash.
    const some = await tx
      .selectFrom("image_packages")
      .select("source")
      .where("digest", "=", subject)
      .where("source", ">=", `${manifest}/`)
      .where("source", "<", `${manifest}0`)
      .limit(1)
      .executeTakeFirst();
    if (some !== undefined) {
      await deletePackages(tx, subject, some.source);
      return { done: false, removed: false };
    }
    for (const table of [
      "attached_statements",
      "attached_passed_over",
      "attached_refs",
      "attached_documents",
      "attached_readings",
    ] as const)
      await tx.deleteFrom(table).where("subject", "=", subject).where("manifest", "=", manifest).execute();
    return { done: true, removed: true };
  },
  CATALOGING,
);

/**
 * Removes what was read of manifests that are attached to nothing any longer, and whose image is gone. `signal` ends it
 * between two steps, and it rejects then.
 */
export async function removeUnusedAttachments(
  { transactor, data }: { transactor: Transactor; data: CallData },
  signal: AbortSignal,
): Promise<{ attachments: number }> {
  for (let page: AttachmentPage | undefined = ["", "", "", 0]; page !== undefined;) {
    signal.throwIfAborted();
    const reviewed: { next?: AttachmentPage } = await transactor.write(reviewAttachments, data, { after: page });
    page = reviewed.next;
    await wait(PAUSE_MS);
  }
  let attachments = 0;
  for (let after: [string, string] | undefined = ["", ""]; after !== undefined;) {
    const from: [string, string] = after;
    signal.throwIfAborted();
    const rows = await transactor.read(data, (call) =>
      select<{ subject: string; manifest: string; unused: number }>(
        call.tx,
        `select r.subject, r.manifest, case when exists (select 1 from attachments as a where a.subject = r.subject and a.manifest = r.manifest) then 0 else 1 end as unused
         from attached_readings as r where (r.subject, r.manifest) > (?, ?) order by r.subject, r.manifest limit ${PAGE}`,
        from,
      ),
    );
    for (const { unused, ...reading } of rows)
      for (let isDone = unused === 0; !isDone;) {
        signal.throwIfAborted();
        const { done, removed } = await transactor.write(removeAttached, data, reading);
        isDone = done;
        if (removed) attachments += 1;
      }
    await wait(PAUSE_MS);
    const last = rows.at(-1);
    after = rows.length < PAGE || last === undefined ? undefined : [last.subject, last.manifest];
  }
  return { attachments };
}
