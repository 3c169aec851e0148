import { Capability, ScanState, type ScanType } from "@moorage/api/messages";
import { sql } from "kysely";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { pathOf } from "@moorage/kernel/core/image-path";
import { type Row, takeAdvisoryLock } from "@moorage/kernel/store";
import { queueOn } from "@moorage/kernel/work";
import { withReleases } from "../catalog/releases.ts";
import { CATALOG_STATE, insertPackages } from "../catalog/rows.ts";
import type { Component } from "../catalog/types.ts";
import { emitEnded } from "./end-events.ts";
import type { Counts } from "./report.ts";
import { deleteScanned, OPEN_STATES, SCANNING } from "./rows.ts";
import { scanSource } from "../attached/sources.ts";

/** How long a process that died keeps a scan; a live one renews its hold in time. In milliseconds. */
export const HOLD_MS = 30_000;

/** The capabilities that a pull needs. Source: docs/contract.md, "Capabilities and roles". */
export const PULL: readonly Capability[] = [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET];

/** How long scans of new images wait for the reading of their layers, and how often it is looked for. */
const READ_PATIENCE_MS = 60_000;
const READ_PAUSE_MS = 1_000;

const isOpen = sql<boolean>`${sql.raw(OPEN_STATES)}`;

const SCANS = queueOn({
  table: "scans",
  key: ["uid"],
  holdMs: HOLD_MS,
  open: OPEN_STATES,
  states: { waiting: ScanState.WAITING, done: ScanState.DONE, failed: ScanState.FAILED },
  failed: (call, { uid }, reason) => emitEnded(call, uid, { reason }),
});

/** A scan, and which process has it done. */
export interface HeldScan {
  uid: string;
  holder: string;
}

/** What is to be scanned, with which adapter and whose rights. */
export interface ClaimedScan {
  uid: string;
  repo: string;
  /** The image's path, by the names of now. */
  path: string;
  digest: string;
  /** A tag that points to the image; empty without one. */
  tag: string;
  /** The media type of its manifest. */
  manifestType: string;
  type: ScanType;
  identity: string;
  scanner: Pick<Row<"scanners">, "uid" | "url" | "credential">;
}

export interface ClaimInput {
  holder: string;
  scanner: string;
  /** So many scans of the scanner may be under way in the whole installation. */
  concurrency: number;
  /** How often a scan is attempted. */
  maxAttempts: number;
}

/**
 * Takes the scan of the scanner that is due longest, for HOLD_MS of the agreed time. `claimed` is undefined when none
 * is due or enough are under way, and when `again` says to ask again. `laterMs`: one waits for the reading of its
 * layers, and is due again in so many milliseconds.
 */
export const claimScan = command(
  "security.claimScan",
  async (
    call: Call,
    { holder, scanner, concurrency, maxAttempts }: ClaimInput,
  ): Promise<{ claimed?: ClaimedScan; again?: boolean; laterMs?: number }> => {
    const { tx, agreedMs } = call;
    await takeAdvisoryLock(tx, "scans");
    const by = await tx
      .selectFrom("scanners")
      .select(["uid", "name", "url", "credential", "identity"])
      .where("uid", "=", scanner)
      .where("disabled", "=", 0)
      .executeTakeFirst();
    if (by === undefined || (await underWay(call, scanner)) >= concurrency) return {};
    const row = await tx
      .selectFrom("scans")
      .select(["uid", "parent", "digest", "type", "attempts", "reason", "request_time", "hold_until"])
      .where("scanner", "=", scanner)
      .where("hold_until", "<=", agreedMs)
      .where(isOpen)
      .orderBy("hold_until")
      .orderBy("uid")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return {};
    const { uid, parent: repo, digest, attempts } = row;
    if (await isStillRead(call, row)) {
      await tx
        .updateTable("scans")
        .set({ hold_until: agreedMs + READ_PAUSE_MS })
        .where("uid", "=", uid)
        .execute();
      return { again: true, laterMs: READ_PAUSE_MS };
    }
    const image = await tx
      .selectFrom("manifests")
      .select("media_type")
      .where("repo", "=", repo)
      .where("digest", "=", digest)
      .executeTakeFirst();
    const outcome = await SCANS.claim(
      call,
      { uid, attempts, reason: row.reason },
      {
        holder,
        maxAttempts,
        reason: "the server ended each time while the image was scanned",
        set: { state: ScanState.WAITING, scanner_name: by.name, start_time: call.nowMs },
      },
    );
    if (outcome !== "held") return { again: true };
    if (image === undefined) {
      // A job removes it.
      await SCANS.fail(call, { uid }, "the image is gone");
      return { again: true };
    }
    if (!(await mayPull(call, by.identity, repo))) {
      const reason = "the identity that registered the scanner may not pull from the repo: update the scanner";
      await SCANS.fail(call, { uid }, reason);
      return { again: true };
    }
    const claimed = {
      uid,
      repo,
      path: await pathOf(tx, repo),
      digest,
      tag: await tagOf(call, repo, digest),
      manifestType: image.media_type,
      type: row.type as ScanType,
      identity: by.identity,
      scanner: { uid: by.uid, url: by.url, credential: by.credential },
    };
    return { claimed };
  },
  SCANNING,
);

/**
 * Whether the scan, which nobody asked for, waits for the server's own reading of the image. Where that does not come,
 * it waits no longer.
 */
async function isStillRead(
  { tx, nowMs }: Call,
  row: Pick<Row<"scans">, "digest" | "attempts" | "request_time" | "hold_until">,
): Promise<boolean> {
  // Those that were asked for are due since 0.
  if (row.hold_until === 0 || row.attempts > 0 || nowMs - row.request_time > READ_PATIENCE_MS) return false;
  const catalog = await tx
    .selectFrom("image_catalogs")
    .select("digest")
    .where("digest", "=", row.digest)
    .where("state", "=", CATALOG_STATE.waiting)
    .executeTakeFirst();
  return catalog !== undefined;
}

async function underWay({ tx, agreedMs }: Call, scanner: string): Promise<number> {
  const { n } = await tx
    .selectFrom("scans")
    .select(({ fn }) => fn.countAll<number | string>().as("n"))
    .where("scanner", "=", scanner)
    .where("hold_until", ">", agreedMs)
    .where(isOpen)
    .where("holder", "!=", "")
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** Whether the identity may pull from the repo, by its role bindings. */
export async function mayPull(call: Pick<Call, "heldBy">, identity: string, uid: string): Promise<boolean> {
  for (const capability of PULL) if (!(await call.heldBy(identity, capability, uid))) return false;
  return true;
}

async function tagOf({ tx }: Call, repo: string, digest: string): Promise<string> {
  const row = await tx
    .selectFrom("tags")
    .select("name")
    .where("parent", "=", repo)
    .where("digest", "=", digest)
    .orderBy("update_time", "desc")
    .orderBy("name")
    .limit(1)
    .executeTakeFirst();
  return row?.name ?? "";
}

/** Goes on holding the scan. Answers false when another process has taken it, or it is not to be done any more. */
export const renewScan = command(
  "security.renewScan",
  (call: Call, scan: HeldScan): Promise<{ held: boolean }> => SCANS.isHeld(call, scan),
  SCANNING,
);

/** The adapter has taken the request. `adapter`: what it says of itself, as proto3 JSON. */
export const acceptScan = command(
  "security.acceptScan",
  async (
    call: Call,
    { adapter, scanner, ...scan }: HeldScan & { adapter: string; scanner: string },
  ): Promise<{ held: boolean }> => {
    if (!(await SCANS.isHeld(call, scan)).held) return { held: false };
    await call.tx.updateTable("scans").set({ state: ScanState.RUNNING }).where("uid", "=", scan.uid).execute();
    // Only where it changed: this invalidates cached answers.
    const known = await call.tx.selectFrom("scanners").select("adapter").where("uid", "=", scanner).executeTakeFirst();
    if (known !== undefined && known.adapter !== adapter)
      await call.tx
        .updateTable("scanners")
        .set({ adapter, check_time: call.nowMs })
        .where("uid", "=", scanner)
        .execute();
    return { held: true };
  },
  SCANNING,
);

/**
 * Writes packages of a bill of materials from the number `from` on, with the first of them in place of those of the
 * report before. They are not seen before finishScan. Answers false when another process has taken the scan.
 */
export const writeScannedPart = command(
  "security.writeScannedPart",
  async (
    call: Call,
    { from, components, ...scan }: HeldScan & { from: number; components: Component[] },
  ): Promise<{ held: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const row = await SCANS.renew(call, scan, ["digest"]);
    if (row === undefined) return { held: false };
    const { uid } = scan;
    const { digest } = row;
    if (from === 0) {
      await tx.updateTable("scans").set({ packages: 0 }).where("uid", "=", uid).execute();
      await deleteScanned(tx, { uid, digest });
    }
    const stored = await withReleases(tx, digest, components);
    await insertPackages(tx, { digest, source: scanSource(uid), from, components: stored });
    return { held: true };
  },
  SCANNING,
);

/** A report as it is stored: its content compressed, the rest as `scans` has it. */
export interface StoredReport {
  content: Uint8Array;
  size: number;
  mimeType: string;
  software: string;
  /** Null for a bill of materials. */
  counts: string | null;
  packages: number;
}

/** The report has come. Answers false when another process has taken the scan. */
export const finishScan = command(
  "security.finishScan",
  async (call: Call, { report, ...scan }: HeldScan & { report: StoredReport }): Promise<{ held: boolean }> => {
    if (!(await SCANS.isHeld(call, scan)).held) return { held: false };
    const { content, size, mimeType, software, counts, packages } = report;
    await call.tx
      .insertInto("scan_reports")
      .values({ scan: scan.uid, content: Buffer.from(content) })
      .onConflict((on) => on.column("scan").doUpdateSet({ content: Buffer.from(content) }))
      .execute();
    await SCANS.finish(call, scan, {
      software,
      counts,
      packages,
      report_mime_type: mimeType,
      report_size: size,
      report_time: call.nowMs,
    });
    if (packages > 0) call.wake("matching");
    await emitEnded(call, scan.uid, { reason: "", counts: counts === null ? {} : (JSON.parse(counts) as Counts) });
    return { held: true };
  },
  SCANNING,
);

/**
 * The attempt failed. `isFinal`: another one would fail, too. Otherwise the scan is attempted again after the delay for
 * as many attempts, and has failed after the last. Answers which; undefined when another process has taken the scan.
 */
export const failScan = command(
  "security.failScan",
  (
    call: Call,
    {
      reason,
      isFinal,
      delaysMs,
      ...scan
    }: HeldScan & { reason: string; isFinal: boolean; delaysMs: readonly number[] },
  ): Promise<"failed" | "again" | undefined> =>
    SCANS.failAttempt(call, scan, {
      reason,
      delayOf: (attempts) => (isFinal ? undefined : delaysMs[attempts - 1]),
    }),
  SCANNING,
);

/** Nobody has the scan done any longer, since the process shuts down; the attempt does not count. */
export const releaseScan = command(
  "security.releaseScan",
  (call: Call, scan: HeldScan): Promise<void> => SCANS.release(call, scan),
  SCANNING,
);
