import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { isObject } from "@moorage/kernel/lib/json";
import { type Database, takeAdvisoryLock } from "@moorage/kernel/store";
import { leaseOn, queueOn } from "@moorage/kernel/work";
import { noteImageChange } from "../causes/image-cause.ts";
import { CATALOGING } from "../catalog/command-options.ts";
import type { Component, NotRead } from "../catalog/types.ts";
import { HOLD_MS, MAX_ATTEMPTS, retryAfterMs, retryDelay, type StoredLayer } from "../catalog/queue.ts";
import { deletePackages } from "../catalog/remove.ts";
import { withReleases } from "../catalog/releases.ts";
import { CATALOG_STATE, insertPackages } from "../catalog/rows.ts";
import { hasOtherPredicate, isDocumentType } from "./media-types.ts";
import { forgetReading, outdatedReadings, packagesOf, replaceReading, statementsOf } from "./older-readings.ts";
import { ATTACHED_READERS_VERSION } from "./readers-version.ts";
import type { AttachedDocument, AttachedLayer, StoredStatement } from "./types.ts";

// The queue of attached manifests that wait to be read. What an attempt that failed has written is not seen, and goes
// with the next attempt or with the attachment.
const ROWS_OF_READINGS = { table: "attached_readings", key: ["subject", "manifest"], holdMs: HOLD_MS } as const;
const READINGS = queueOn({
  ...ROWS_OF_READINGS,
  open: `state = ${CATALOG_STATE.waiting}`,
  states: CATALOG_STATE,
  ended: ({ nowMs }) => ({ finish_time: nowMs }),
});
/** Those that are read again, of which what was read counts meanwhile. */
const DONE = leaseOn({ ...ROWS_OF_READINGS, open: `state = ${CATALOG_STATE.done}` });
/** Both. */
const READ = leaseOn({ ...ROWS_OF_READINGS, open: `state in (${CATALOG_STATE.waiting}, ${CATALOG_STATE.done})` });

/** The most documents of one manifest that are read: cosign adds a layer for each attestation. */
const MAX_DOCUMENTS = 50;

// Rows per statement, below the parameter limit of every engine.
const ROWS = 300;

/** An attached manifest, as one about the subject, and who reads it. */
export interface Reading {
  subject: string;
  manifest: string;
  holder: string;
}

/** The row of a reading; what a command takes has more fields. */
const placeOf = ({ subject, manifest, holder }: Reading): Reading => ({ subject, manifest, holder });

/** A document with the numbers of what was written of it. */
export type FinishedDocument = Omit<AttachedDocument, "components" | "statements"> & {
  packages: number;
  statements: number;
};

/** The most statements about something else that are kept of one manifest. */
const MAX_PASSED_OVER = 2_000;

export interface ClaimedManifest {
  subject: string;
  manifest: string;
  layers: AttachedLayer[];
}

/**
 * Takes the manifest that has waited longest: of those that were not attempted yet, or of those that were. `again`:
 * there may be another.
 */
export const claimAttached = command(
  "security.claimAttached",
  async (
    call: Call,
    { holder, isAgain }: { holder: string; isAgain: boolean },
  ): Promise<{ claimed?: ClaimedManifest; again?: boolean }> => {
    const { tx, agreedMs } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const row = await tx
      .selectFrom("attached_readings")
      .select(["subject", "manifest", "attempts", "reason"])
      .where("state", "=", CATALOG_STATE.waiting)
      .where("hold_until", "<=", agreedMs)
      .where("attempts", isAgain ? ">" : "=", 0)
      .orderBy("create_time")
      .orderBy("subject")
      .orderBy("manifest")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return {};
    const { subject, manifest } = row;
    const reason = "the server ended each time while it read the documents";
    const outcome = await READINGS.claim(call, row, { holder, maxAttempts: MAX_ATTEMPTS, reason });
    if (outcome !== "held") return { again: true };
    const layers = await layersOf(tx, manifest);
    if (layers === undefined) {
      await READINGS.fail(call, { subject, manifest }, "it is not stored here any longer");
      return { again: true };
    }
    return { claimed: { subject, manifest, layers } };
  },
  CATALOGING,
);

/**
 * Takes a manifest that was read by earlier readers than those of this program, the oldest first, to be read again.
 * `claimed` is undefined when there is none, and when `again` says to ask again. One that is not stored as a whole any
 * longer keeps what was read of it.
 */
export const claimOutdatedAttached = command(
  "security.claimOutdatedAttached",
  async (call: Call, { holder }: { holder: string }): Promise<{ claimed?: ClaimedManifest; again?: boolean }> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await outdatedReadings(call.tx)
      .select(["subject", "manifest", "rereads"])
      .where("hold_until", "<=", call.agreedMs)
      .orderBy("readers")
      .orderBy("create_time")
      .orderBy("subject")
      .orderBy("manifest")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return {};
    const { subject, manifest, rereads } = row;
    const layers = await layersOf(call.tx, manifest);
    const isStored = layers?.every(({ stored }) => stored !== undefined) === true;
    const set = { rereads: isStored ? rereads + 1 : MAX_ATTEMPTS, ...(!isStored && { hold_until: 0, holder: "" }) };
    if (!(await DONE.take(call, { subject, manifest, holder }, set)) || !isStored) return { again: true };
    return { claimed: { subject, manifest, layers } };
  },
  CATALOGING,
);

interface Layer {
  digest: string;
  mediaType: string;
  annotations?: unknown;
}

/** The layers of a manifest that may be documents; undefined when it is not stored any longer. */
async function layersOf(tx: Database, manifest: string): Promise<AttachedLayer[] | undefined> {
  const row = await tx
    .selectFrom("manifests")
    .select(["content", "artifact_type"])
    .where("digest", "=", manifest)
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { content, artifact_type: artifactType } = row;
  const { layers = [] } = JSON.parse(Buffer.from(content).toString()) as { layers?: Layer[] };
  // Whoever states the type of the artifact may leave that of its only content to the client.
  const isDocument = isDocumentType(artifactType);
  const wanted = layers
    .map((layer, n) => ({ ...layer, n }))
    .filter(({ mediaType }) => isDocument || isDocumentType(mediaType))
    .filter(({ annotations }) => !isObject(annotations) || !hasOtherPredicate(annotations))
    .slice(-MAX_DOCUMENTS);
  if (wanted.length === 0) return [];
  const rows: StoredLayer[] = await tx
    .selectFrom("blobs")
    .select(["digest", "generation", "size"])
    .where(
      "digest",
      "in",
      wanted.map(({ digest }) => digest),
    )
    .execute();
  const stored = new Map(rows.map((row) => [row.digest, row]));
  return wanted.map(({ n, digest, mediaType }) => {
    const type = isDocumentType(mediaType) ? mediaType : artifactType;
    const found = stored.get(digest);
    return { n, digest, mediaType: type, ...(found !== undefined && { stored: found }) };
  });
}

/** Goes on holding the manifest. Answers false when another process has taken it. */
export const renewAttached = command(
  "security.renewAttached",
  async (call: Call, reading: Reading): Promise<{ held: boolean }> => ({
    held: (await READ.renew(call, reading, ["state"])) !== undefined,
  }),
  CATALOGING,
);

/**
 * Writes packages of the document `n` from the number `from` on, with the first of them in place of what an earlier
 * attempt wrote. They are not seen before finishAttached.
 */
export const writeAttachedPart = command(
  "security.writeAttachedPart",
  async (
    call: Call,
    { n, from, components, ...reading }: Reading & { n: number; from: number; components: Component[] },
  ): Promise<{ held: boolean }> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await READ.renew(call, placeOf(reading), ["state"]);
    if (row === undefined) return { held: false };
    const { subject: digest, manifest } = reading;
    const source = packagesOf(manifest, n, row.state === CATALOG_STATE.done);
    if (from === 0) while (!(await deletePackages(call.tx, digest, source)));
    const stored = await withReleases(call.tx, digest, components);
    await insertPackages(call.tx, { digest, source, from, components: stored });
    return { held: true };
  },
  CATALOGING,
);

/** Writes statements of the document `n` as writeAttachedPart does packages. */
export const writeAttachedStatements = command(
  "security.writeAttachedStatements",
  async (
    call: Call,
    { n, from, statements, ...reading }: Reading & { n: number; from: number; statements: StoredStatement[] },
  ): Promise<{ held: boolean }> => {
    const { tx } = call;
    const row = await READ.renew(call, placeOf(reading), ["state"]);
    if (row === undefined) return { held: false };
    const { subject, manifest } = reading;
    const place = { subject, manifest, n: statementsOf(n, row.state === CATALOG_STATE.done) };
    if (from === 0)
      await tx
        .deleteFrom("attached_statements")
        .where("subject", "=", place.subject)
        .where("manifest", "=", place.manifest)
        .where("n", "=", place.n)
        .execute();
    const rows = statements.map(({ ids, timeMs, remedies, ...rest }, at) => ({
      ...place,
      i: from + at,
      ids: JSON.stringify(ids),
      time: timeMs,
      remedies: JSON.stringify(remedies),
      ...rest,
    }));
    if (rows.length > 0) await tx.insertInto("attached_statements").values(rows).execute();
    return { held: true };
  },
  CATALOGING,
);

/** The manifest has been read: what is in its documents beside their packages and statements. */
export const finishAttached = command(
  "security.finishAttached",
  async (
    call: Call,
    { documents, ...reading }: Reading & { documents: FinishedDocument[] },
  ): Promise<{ held: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const row = await READ.renew(call, placeOf(reading), ["state"]);
    if (row === undefined) return { held: false };
    const { subject, manifest } = reading;
    // Of a first reading nothing stands beside it but what a later one left that was given up.
    await (row.state === CATALOG_STATE.done ? replaceReading : forgetReading)(call, reading);
    await tx.deleteFrom("attached_documents").where("subject", "=", subject).where("manifest", "=", manifest).execute();
    if (documents.length > 0)
      await tx
        .insertInto("attached_documents")
        .values(
          documents.map(({ mediaType, timeMs, documentId, passedOver, refs: _refs, ...document }) => ({
            subject,
            manifest,
            media_type: mediaType,
            time: timeMs,
            document_id: documentId,
            passed_over: passedOver.total,
            ...document,
          })),
        )
        .execute();
    await keepPassedOver(tx, { subject, manifest }, documents);
    await keepRefs(tx, { subject, manifest }, documents);
    await READINGS.finish(call, reading, { readers: ATTACHED_READERS_VERSION, rereads: 0 });
    await noteImageChange(call, subject);
    return { held: true };
  },
  CATALOGING,
);

/** Keeps the first statements of a manifest that are about something else, in place of those of before. */
async function keepPassedOver(
  tx: Database,
  place: Pick<Reading, "subject" | "manifest">,
  documents: readonly FinishedDocument[],
): Promise<void> {
  await tx
    .deleteFrom("attached_passed_over")
    .where("subject", "=", place.subject)
    .where("manifest", "=", place.manifest)
    .execute();
  const rows = documents
    .flatMap(({ n, passedOver }) =>
      passedOver.first.map(({ ids, ...rest }, i) => ({ ...place, n, i, ids: JSON.stringify(ids), ...rest })),
    )
    .slice(0, MAX_PASSED_OVER);
  for (let at = 0; at < rows.length; at += ROWS)
    await tx
      .insertInto("attached_passed_over")
      .values(rows.slice(at, at + ROWS))
      .execute();
}

/** Keeps by what other documents link to the components of a manifest's, in place of what was kept before. */
async function keepRefs(
  tx: Database,
  place: Pick<Reading, "subject" | "manifest">,
  documents: readonly FinishedDocument[],
): Promise<void> {
  const { subject, manifest } = place;
  await tx.deleteFrom("attached_refs").where("subject", "=", subject).where("manifest", "=", manifest).execute();
  const rows = documents.flatMap(({ n, refs }) => refs.map((each) => ({ ...place, n, ...each }))).slice(0, MAX_REFS);
  for (let at = 0; at < rows.length; at += ROWS)
    await tx
      .insertInto("attached_refs")
      .values(rows.slice(at, at + ROWS))
      .onConflict((on) => on.doNothing())
      .execute();
}

/** The most references to components that are kept of one manifest. */
const MAX_REFS = 20_000;

/**
 * The manifest could not be read. `isFinal`: it would fail again. Otherwise it waits, up to MAX_ATTEMPTS. What earlier
 * readers found in it stays.
 */
export const failAttached = command(
  "security.failAttached",
  async (call: Call, { reason, isFinal, isSoon = false, ...reading }: Reading & NotRead): Promise<void> => {
    await takeAdvisoryLock(call.tx, "catalogs");
    const row = await DONE.renew(call, placeOf(reading), ["rereads"]);
    if (row === undefined) {
      const delayOf = retryDelay({ isFinal, isSoon });
      await READINGS.failAttempt(call, reading, { reason, delayOf });
      return;
    }
    await forgetReading(call, reading);
    const rereads = isFinal ? MAX_ATTEMPTS : Number(row.rereads);
    await DONE.end(call, reading, { rereads, hold_until: call.agreedMs + rereads * retryAfterMs(isSoon) });
  },
  CATALOGING,
);

/** Nobody reads the manifest any longer, since the process shuts down; the attempt does not count. */
export const releaseAttached = command(
  "security.releaseAttached",
  async (call: Call, reading: Reading): Promise<void> => {
    const row = await DONE.renew(call, placeOf(reading), ["rereads"]);
    if (row === undefined) await READINGS.release(call, reading);
    else await DONE.end(call, reading, { rereads: Number(row.rereads) - 1 });
  },
  CATALOGING,
);
