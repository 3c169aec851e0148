import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { endSignatureChecks } from "../../registry/index.ts";
import { type Row, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { READING_STATE, VERIFYING } from "../command-options.ts";
import { NOT_HELD } from "../missing-subject.ts";
import { checkSignedDocumentsIn } from "./document-checks.ts";
import { emitAttached, emitDetached } from "./events.ts";
import { MAX_MANIFESTS, relationsOf } from "./relations.ts";

/** The most rows of one digest that are kept after they ended. */
const MAX_ENDED = 500;

/**
 * Looks at one digest of a repo to which signatures may have been attached, or from which they were taken, fresh ones
 * before the backlog, and writes what began and what ended. What begins waits to be verified.
 */
export const checkNextSignatures = command(
  "trust.checkNextSignatures",
  async (call: Call, _input: Record<string, never>): Promise<{ checked: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "signatures");
    const next = await tx
      .selectFrom("signature_checks")
      .select(["repo", "digest"])
      .orderBy("backlog")
      .orderBy("create_time")
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    if (next === undefined) return { checked: false };
    // Before what is attached is read: the reason of a row that is not seen here stays.
    await endSignatureChecks(call, next.repo, next.digest);
    await writeChanges(call, next.repo, next.digest);
    return { checked: true };
  },
  VERIFYING,
);

async function writeChanges(call: Call, repo: string, subject: string): Promise<void> {
  const { tx, nowMs } = call;
  const rows = await tx
    .selectFrom("signature_sources")
    .selectAll()
    .where("repo", "=", repo)
    .where("subject", "=", subject)
    .execute();
  const now = new Map((await relationsOf(tx, repo, subject, nowMs)).map((relation) => [relation.manifest, relation]));
  const at = (row: Row<"signature_sources">) =>
    tx
      .deleteFrom("signature_sources")
      .where("repo", "=", repo)
      .where("subject", "=", subject)
      .where("manifest", "=", row.manifest)
      .where("from_time", "=", row.from_time);
  const change = async (row: Row<"signature_sources">, set: Partial<Row<"signature_sources">>): Promise<void> => {
    Object.assign(row, set);
    await tx
      .updateTable("signature_sources")
      .set(set)
      .where("repo", "=", repo)
      .where("subject", "=", subject)
      .where("manifest", "=", row.manifest)
      .where("from_time", "=", row.from_time)
      .execute();
  };
  const open = new Set<string>();
  const gone: Row<"signature_sources">[] = [];
  for (const row of rows.filter(({ until_time }) => until_time === null)) {
    const is = now.get(row.manifest);
    if (is === undefined) gone.push(row);
    if (is === undefined) await change(row, { until_time: Math.max(nowMs, row.from_time) });
    else open.add(row.manifest);
    if (is !== undefined && is.via !== row.via) await change(row, { via: is.via });
  }
  const ended = rows.filter(({ until_time }) => until_time !== null).sort((a, b) => b.from_time - a.from_time);
  for (const row of ended.slice(MAX_ENDED)) await at(row).execute();
  for (const { manifest, via, attachedBy } of now.values()) {
    if (open.has(manifest)) continue;
    // The times of one manifest never overlap, whatever the clock does.
    const before = ended.filter((row) => row.manifest === manifest).map((row) => (row.until_time ?? 0) + 1);
    const from_time = Math.max(nowMs, ...before);
    await tx
      .insertInto("signature_sources")
      .values({ repo, subject, manifest, via, from_time, until_time: null, attached_by: attachedBy })
      .execute();
    await emitAttached(call, { repo, subject, manifest, actor: attachedBy });
    await awaitReading(call, subject, manifest);
  }
  await awaitUnheld(call, repo, subject);
  if (gone.length > 0) await checkSignedDocumentsIn(call, repo, subject);
  // What stands at the tag now is looked at when it is verified.
  const tagged = new Set([...now.values()].map(({ via }) => via).filter((via) => via !== ""));
  for (const { manifest, via } of gone)
    if (!tagged.has(via)) await emitDetached(call, { repo, subject, manifest, via });
}

/** Has verified again what could not be before the subject was pushed, if it was pushed meanwhile. */
async function awaitUnheld(call: Call, repo: string, subject: string): Promise<void> {
  const found = await select<{ manifest: string }>(
    call.tx,
    `select distinct e.manifest from signature_entries as e join signature_readings as r on r.subject = e.subject and r.manifest = e.manifest
     where e.subject = ? and e.reason = ? and r.state = ${READING_STATE.done} and exists (select 1 from manifests as m where m.repo = ? and m.digest = ?)
     order by e.manifest limit ${MAX_MANIFESTS}`,
    [subject, NOT_HELD, repo, subject],
  );
  for (const { manifest } of found) await awaitReading(call, subject, manifest);
}

/**
 * Has the manifest verified as one about the subject: it may have been in another repo, for whose signers alone, or
 * have failed.
 */
export async function awaitReading({ tx, nowMs }: Call, subject: string, manifest: string): Promise<void> {
  const again = { state: READING_STATE.waiting, attempts: 0, reason: "", hold_until: 0, holder: "" };
  await tx
    .insertInto("signature_readings")
    .values({
      subject,
      manifest,
      ...again,
      create_time: nowMs,
      finish_time: null,
      first_time: null,
      signers: "{}",
      readers: 0,
    })
    .onConflict((on) => on.columns(["subject", "manifest"]).doUpdateSet(again))
    .execute();
}

/** Has a manifest that waits verified before those that are not urgent. */
export async function hurryReading({ tx }: Pick<Call, "tx">, subject: string, manifest: string): Promise<void> {
  await tx
    .updateTable("signature_readings")
    .set({ urgent: 1 })
    .where("subject", "=", subject)
    .where("manifest", "=", manifest)
    .execute();
}
