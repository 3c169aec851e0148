import type { Call } from "../../core/call.ts";
import { command } from "../../core/command.ts";
import { checkAttachments, noteImageChange } from "../../registry/index.ts";
import { takeAdvisoryLock } from "../../store/index.ts";
import { CATALOGUING } from "../catalog/command-options.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { attestedBy, relationsOf } from "./relations.ts";

/** The most attachments of one digest that are kept after they ended. */
const MAX_ENDED = 200;

/**
 * Looks at one digest of a repo of which something attached may have changed, fresh ones before the backlog, and writes
 * what began and what ended. What begins waits to be read. Answers false when nothing was to be looked at.
 */
export const checkNextAttachments = command(
  "security.checkNextAttachments",
  async (call: Call, _input: Record<string, never>): Promise<{ checked: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const next = await tx
      .selectFrom("attachment_checks")
      .select(["repo", "digest"])
      .orderBy("backlog")
      .orderBy("create_time")
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return { checked: false };
    const { repo, digest } = next;
    // Before what it is about is read: the reason of a row that is not seen here is not seen either, and stays.
    await tx.deleteFrom("attachment_checks").where("repo", "=", repo).where("digest", "=", digest).execute();
    for (const each of await attestedBy(tx, repo, digest))
      if (each !== digest) await checkAttachments(call, repo, each);
    await writeChanges(call, repo, digest);
    return { checked: true };
  },
  CATALOGUING,
);

async function writeChanges(call: Call, repo: string, subject: string): Promise<void> {
  const { tx, nowMs } = call;
  const now = await relationsOf(tx, repo, subject);
  const known = await tx
    .selectFrom("attachments")
    .select(["manifest", "via", "from_time", "until_time"])
    .where("repo", "=", repo)
    .where("subject", "=", subject)
    .execute();
  const open = new Map(known.filter((row) => row.until_time === null).map((row) => [row.manifest, row]));
  const isSame = open.size === now.size && [...now.keys()].every((manifest) => open.has(manifest));
  // What begins and was read before, in another repo, counts from now on.
  if (!isSame) await noteImageChange(call, subject, repo);
  for (const { manifest, via, from_time } of open.values()) {
    const is = now.get(manifest);
    if (is === via) continue;
    await tx
      .updateTable("attachments")
      .set(is === undefined ? { until_time: Math.max(nowMs, from_time) } : { via: is })
      .where("repo", "=", repo)
      .where("subject", "=", subject)
      .where("manifest", "=", manifest)
      .where("from_time", "=", from_time)
      .execute();
  }
  const ended = known.filter((row) => row.until_time !== null).sort((a, b) => b.from_time - a.from_time);
  for (const { manifest, from_time } of ended.slice(MAX_ENDED))
    await tx
      .deleteFrom("attachments")
      .where("repo", "=", repo)
      .where("subject", "=", subject)
      .where("manifest", "=", manifest)
      .where("from_time", "=", from_time)
      .execute();
  for (const [manifest, via] of now) {
    if (open.has(manifest)) continue;
    // The times of one manifest never overlap, whatever the clock does.
    const before = ended.filter((row) => row.manifest === manifest).map((row) => (row.until_time ?? 0) + 1);
    const from_time = Math.max(nowMs, ...before);
    await tx.insertInto("attachments").values({ repo, subject, manifest, via, from_time, until_time: null }).execute();
    await awaitReading(call, subject, manifest);
  }
}

/** What is read already is not read again; what could not be read is. */
async function awaitReading({ tx, nowMs }: Call, subject: string, manifest: string): Promise<void> {
  const { waiting, failed } = CATALOG_STATE;
  await tx
    .insertInto("attached_readings")
    .values({
      subject,
      manifest,
      state: waiting,
      attempts: 0,
      reason: "",
      holder: "",
      hold_until: 0,
      create_time: nowMs,
      finish_time: null,
    })
    .onConflict((on) =>
      on
        .columns(["subject", "manifest"])
        .doUpdateSet({ state: waiting, attempts: 0, reason: "", finish_time: null })
        .where("attached_readings.state", "=", failed),
    )
    .execute();
}
