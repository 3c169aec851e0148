import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { takeAdvisoryLock } from "@moorage/kernel/store";
import { checkDocuments, endAttachmentChecks } from "@moorage/registry/registry";
import { noteImageChange } from "../causes/image-cause.ts";
import { CATALOGING } from "../catalog/command-options.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { attestedBy, type Relation, relationsOf } from "./relations.ts";

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
    await endAttachmentChecks(call, repo, digest);
    for (const each of await attestedBy(tx, repo, digest)) if (each !== digest) await checkDocuments(call, repo, each);
    await writeChanges(call, repo, digest);
    return { checked: true };
  },
  CATALOGING,
);

async function writeChanges(call: Call, repo: string, subject: string): Promise<void> {
  const { tx, nowMs } = call;
  const { found: now, asked, recheckMs } = await relationsOf(call, repo, subject);
  const known = await tx
    .selectFrom("attachments")
    .select(["manifest", "via", "from_time", "until_time", "attached_by", "trusted", "layers", "asked", "recheck_time"])
    .where("repo", "=", repo)
    .where("subject", "=", subject)
    .execute();
  const isSame = (row: (typeof known)[number], { trusted, attachedBy, layers }: Relation): boolean =>
    (row.trusted === 1) === trusted && row.attached_by === attachedBy && row.layers === layers;
  const judged = { asked, recheck_time: recheckMs };
  const open = new Map(known.filter((row) => row.until_time === null).map((row) => [row.manifest, row]));
  const isAsBefore =
    open.size === now.size &&
    [...now].every(([manifest, is]) => {
      const row = open.get(manifest);
      return row !== undefined && isSame(row, is);
    });
  // What begins and was read before, in another repo, counts from now on.
  if (!isAsBefore) await noteImageChange(call, subject, repo);
  for (const row of open.values()) {
    const { manifest, from_time } = row;
    const is = now.get(manifest);
    const goesOn = is !== undefined && isSame(row, is);
    const isJudged = row.asked === asked && row.recheck_time === recheckMs;
    if (goesOn && is.via === row.via && isJudged) continue;
    // On another's word it is attached anew: so it is known since when it has been trusted, and since when it counts.
    if (!goesOn) open.delete(manifest);
    row.until_time = goesOn ? null : Math.max(nowMs, from_time);
    await tx
      .updateTable("attachments")
      .set(goesOn ? { via: is.via, ...judged } : { until_time: row.until_time, recheck_time: null })
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
  for (const [manifest, { via, attachedBy, trusted, layers }] of now) {
    if (open.has(manifest)) continue;
    // The times of one manifest never overlap, whatever the clock does.
    const before = ended.filter((row) => row.manifest === manifest).map((row) => (row.until_time ?? 0) + 1);
    const from_time = Math.max(nowMs, ...before);
    const word = { attached_by: attachedBy, trusted: trusted ? 1 : 0, layers, ...judged };
    await tx
      .insertInto("attachments")
      .values({ repo, subject, manifest, via, from_time, until_time: null, ...word })
      .execute();
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
