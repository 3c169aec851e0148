import { tmpdir } from "node:os";
import type { BlobStore } from "@moorage/kernel/blobs";
import type { Config } from "@moorage/kernel/config";
import type { FaultyRow, RowCheck } from "@moorage/kernel/core/row-check";
import { isDamage, type Store } from "@moorage/kernel/store";
import { takeDataDir } from "../../installation/open.ts";
import { type BlobFault, repairBlob, wrongBlobs } from "./blobs.ts";
import { damagesOf } from "./engine.ts";
import { repairManifest, wrongManifests } from "./manifests.ts";
import { ROW_CHECKS } from "./rows.ts";
import { requireFinished } from "../../installation/marker.ts";
import { openBlobsOf, openStoreForLongStatements, requireNewest } from "../../installation/stores.ts";
import type { Report } from "../progress.ts";
import { inSnapshot } from "../snapshot.ts";
import { ask, countOf, EXPORTED_TABLES, type PlainRow } from "../tables.ts";
import { namingFullDisk } from "../full-disk.ts";

export interface FsckOptions {
  /** Repair what can be repaired. An embedded server must be stopped for it. */
  repair: boolean;
  /** Hash the content of every blob as well. */
  deep: boolean;
}

/** The faults of one kind. */
export interface Finding {
  kind: string;
  meaning: string;
  count: number;
  /** How many of them were repaired, and how many are left. */
  repaired: number;
  left: number;
  /** The first ones. */
  examples: string[];
  /** A notice, not a fault. */
  notice: boolean;
}

export interface FsckResult {
  /** Whether no faults are left. */
  clean: boolean;
  findings: Finding[];
  checked: { rows: number; blobs: number };
}

const MAX_EXAMPLES = 5;
const REPAIR_BATCH = 200;

const BLOB_MEANINGS: Record<BlobFault, string> = {
  "blob-without-content":
    "a blob is recorded, and its content is gone; without the record its next push brings it back",
  "blob-size-wrong": "a blob is recorded with another size than its content has",
  "blob-damaged": "the content of a blob is not what its digest says; without it its next push brings it back",
  "content-without-blob": "the blob store holds content that nothing names, and that no push under way can own",
};
const DAMAGED = "database-damaged";
const DAMAGED_MEANING =
  "the engine finds the database's file damaged; restore a backup, or export what can still be read";
const MANIFEST_MEANING = "a manifest is not what its digest or size says; without it its next push brings it back";

/**
 * Checks the database for consistency with itself and the blobs. Without repairing it may run beside a server. Throws a
 * StoreError when there is no installation, or, to repair, when a server runs on the data folder.
 */
export async function checkInstallation(
  config: Config,
  { repair, deep }: FsckOptions,
  report: Report,
): Promise<FsckResult> {
  return await namingFullDisk([tmpdir(), config.dataDir], () => check(config, { repair, deep }, report));
}

async function check(config: Config, { repair, deep }: FsckOptions, report: Report): Promise<FsckResult> {
  const store = await openStoreForLongStatements(config);
  try {
    await requireNewest(store, config);
    await requireFinished(store.reader);
    const lock = repair && store.engine === "sqlite" ? takeDataDir(config.dataDir) : undefined;
    try {
      const place = { store, blobs: await openBlobsOf(config), config, deep, report };
      const found = await runChecks(place, repair);
      if (!repair || found.list().length === 0) return resultOf(found, undefined, await sizeOf(store));
      // Repairs may reveal other faults, such as a manifest whose blob was removed.
      for (const check of ROW_CHECKS) await repairRows(store, check);
      return resultOf(found, await runChecks(place, false), await sizeOf(store));
    } finally {
      lock?.release();
    }
  } finally {
    await store.close();
  }
}

interface Place {
  store: Store;
  blobs: BlobStore;
  config: Config;
  deep: boolean;
  report: Report;
}
type Found = ReturnType<typeof tally>;

/** Counts by kind, with the first examples. */
function tally() {
  const kinds = new Map<string, { meaning: string; notice: boolean; count: number; examples: string[] }>();
  return {
    add(kind: string, meaning: string, examples: string[], count = examples.length, notice = false): void {
      const known = kinds.get(kind) ?? { meaning, notice, count: 0, examples: [] };
      known.count += count;
      known.examples = [...known.examples, ...examples].slice(0, MAX_EXAMPLES);
      kinds.set(kind, known);
    },
    countOf: (kind: string): number => kinds.get(kind)?.count ?? 0,
    list: () => [...kinds].map(([kind, found]) => ({ kind, ...found })),
  };
}

/**
 * Runs all checks. With `repair`, blobs and manifests are repaired as they are found. Where the engine finds the file
 * damaged, the other checks go as far as they can read.
 */
async function runChecks(place: Place, repair: boolean): Promise<Found> {
  const found = tally();
  // PostgreSQL has no check that is always there.
  if (place.store.engine === "sqlite") {
    place.report.progress({ step: "the engine's check", done: 0, total: 1, unit: "pages" });
    const damages = damagesOf(place.config.dataDir);
    if (damages.length > 0) found.add(DAMAGED, DAMAGED_MEANING, damages);
  }
  try {
    await checkContent(place, repair, found);
  } catch (error) {
    if (!isDamage(error)) throw error;
    if (found.countOf(DAMAGED) === 0) found.add(DAMAGED, DAMAGED_MEANING, [error.message]);
  }
  return found;
}

async function checkContent(
  { store, blobs, config, deep, report }: Place,
  repair: boolean,
  found: Found,
): Promise<void> {
  for await (const wrong of wrongBlobs({ store, blobs, deep, report, olderThanMs: Date.now() - config.uploadTtlMs })) {
    found.add(wrong.fault, BLOB_MEANINGS[wrong.fault], [`${wrong.digest} generation ${wrong.generation}`]);
    if (repair) await repairBlob(store, blobs, wrong);
  }
  // Manifests first, because their rows are repaired outside the snapshot that the other checks share.
  await inSnapshot(store, config.dataDir, async (db) => {
    for await (const wrong of wrongManifests(db, report)) {
      found.add("manifest-damaged", MANIFEST_MEANING, [`${wrong.repo} ${wrong.digest}`]);
      if (repair) await repairManifest(store, wrong);
    }
  });
  await inSnapshot(store, config.dataDir, async (db) => {
    for (const [at, { kind, meaning, find, show, notice = false }] of ROW_CHECKS.entries()) {
      report.progress({ step: "checks of rows", done: at, total: ROW_CHECKS.length, unit: "rows" });
      const [row] = await ask<{ n: number }>(db, `select count(*) as n from (${find}) as f`);
      if (row === undefined || row.n === 0) continue;
      const examples = await ask<PlainRow>(db, `select * from (${find}) as f limit ${MAX_EXAMPLES}`);
      found.add(
        kind,
        meaning,
        examples.map((each) => show.map((column) => String(each[column])).join(" ")),
        row.n,
        notice,
      );
    }
  });
}

/** Repairs the rows of a check, a batch per transaction, until none is left, or none that can be repaired. */
async function repairRows(store: Store, { find, repair }: RowCheck): Promise<void> {
  if (repair === undefined) return;
  const repairBatch = (): Promise<string> =>
    store.transact(async (tx) => {
      const rows = await ask<FaultyRow>(tx, `select * from (${find}) as f limit ${REPAIR_BATCH}`);
      for (const row of rows) await repair(tx, row);
      return JSON.stringify(rows);
    });
  for (let before = ""; ;) {
    const rows = await repairBatch();
    if (rows === "[]" || rows === before) return;
    before = rows;
  }
}

/** `after` has the faults that a second check found after the repairs. */
function resultOf(before: Found, after: Found | undefined, checked: FsckResult["checked"]): FsckResult {
  const known = before.list();
  const shown = after?.list().filter(({ kind }) => before.countOf(kind) === 0) ?? [];
  const findings = [...known, ...shown].map((found): Finding => {
    const left = after === undefined ? found.count : after.countOf(found.kind);
    return { ...found, repaired: Math.max(0, found.count - left), left };
  });
  return { clean: findings.every(({ notice, left }) => notice || left === 0), findings, checked };
}

/** How much there is; without the tables that cannot be read. */
async function sizeOf(store: Store): Promise<FsckResult["checked"]> {
  let [rows, blobs] = [0, 0];
  for (const table of EXPORTED_TABLES) {
    const count = await countOf(store.reader, table).catch((error: unknown) => {
      if (!isDamage(error)) throw error;
      return 0;
    });
    rows += count;
    if (table.name === "blobs") blobs = count;
  }
  return { rows, blobs };
}
