import type { Logger } from "pino";
import type { CallData } from "../../core/call.ts";
import { systemCallNow } from "../../core/system-call.ts";
import type { Transactor } from "../../core/transactor.ts";
import type { Clock } from "../../lib/clock.ts";
import { type Database, select } from "../../store/index.ts";
import { HOLD_MS, PART_ROWS } from "../catalog/queue.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import type { CatalogThread } from "../catalog/thread.ts";
import { whileHeld } from "../work.ts";
import { checkNextAttachments } from "./check.ts";
import {
  claimAttached,
  type ClaimedManifest,
  failAttached,
  finishAttached,
  type Reading,
  releaseAttached,
  renewAttached,
  writeAttachedPart,
  writeAttachedStatements,
} from "./queue.ts";
import type { AttachedDocument } from "./types.ts";

/** How the reading of a document ended: it was read, does not count, or its manifest could not be read. */
export type AttachedOutcome = "read" | "rejected" | "failed";

export interface AttachedRunnerDeps {
  metrics: { attached(kind: string, outcome: AttachedOutcome): void };
  transactor: Transactor;
  clock: Clock;
  log: Logger;
  thread: CatalogThread;
  holder: string;
  /** Aborted when the process shuts down. */
  signal: AbortSignal;
}

/** What waits: digests to be looked at, and manifests to be read; at most so many of each are counted. */
export async function attachedBacklog(tx: Database, most: number): Promise<{ checks: number; manifests: number }> {
  const [row] = await select<{ checks: number | string; manifests: number | string }>(
    tx,
    `select (select count(*) from (select 1 from attachment_checks limit ${most}) as c) as checks,
       (select count(*) from (select 1 from attached_readings where state = ${CATALOG_STATE.waiting} limit ${most}) as w) as manifests`,
    [],
  );
  return { checks: Number(row?.checks ?? 0), manifests: Number(row?.manifests ?? 0) };
}

/** The most that is looked at between two readings, so that images go on being read. */
const MAX_CHECKS = 50;

/**
 * Answers a function that looks at what may have been attached, and reads the manifest that has waited longest, if any.
 * It answers whether there was anything to do.
 */
export function attachedRunner(deps: AttachedRunnerDeps): () => Promise<boolean> {
  const { transactor, clock, log, metrics, thread, holder, signal } = deps;
  const data = (): CallData => systemCallNow(clock);
  const isAny = async (): Promise<{ checks: boolean; readings: boolean }> => {
    return await transactor.read(data(), async ({ tx }) => {
      const check = await tx.selectFrom("attachment_checks").select("id").limit(1).executeTakeFirst();
      const reading = await tx
        .selectFrom("attached_readings")
        .select("manifest")
        .where("state", "=", CATALOG_STATE.waiting)
        .where("hold_until", "<=", clock.agreedMs())
        .limit(1)
        .executeTakeFirst();
      return { checks: check !== undefined, readings: reading !== undefined };
    });
  };
  const store = async (reading: Reading, documents: AttachedDocument[]): Promise<boolean> => {
    for (const { n, components, statements } of documents) {
      for (let from = 0; from === 0 || from < components.length; from += PART_ROWS) {
        const part = components.slice(from, from + PART_ROWS);
        const { held } = await transactor.write(writeAttachedPart, data(), { ...reading, n, from, components: part });
        if (!held) return false;
      }
      for (let from = 0; from === 0 || from < statements.length; from += PART_ROWS) {
        const part = statements.slice(from, from + PART_ROWS);
        const written = { ...reading, n, from, statements: part };
        if (!(await transactor.write(writeAttachedStatements, data(), written)).held) return false;
      }
    }
    const counted = documents.map(({ components, statements, ...rest }) => ({
      ...rest,
      packages: components.length,
      statements: statements.length,
    }));
    return (await transactor.write(finishAttached, data(), { ...reading, documents: counted })).held;
  };
  const readOne = async ({ subject, manifest, layers }: ClaimedManifest): Promise<void> => {
    const reading = { subject, manifest, holder };
    const renew = (): Promise<{ held: boolean }> => transactor.write(renewAttached, data(), reading);
    await whileHeld({ renew, holdMs: HOLD_MS, log, what: "an attached manifest" }, async (lost) => {
      const answer =
        layers.length === 0
          ? { documents: [] }
          : await thread.readAttached(subject, layers, AbortSignal.any([signal, lost]));
      if (answer === undefined) return await transactor.write(releaseAttached, data(), reading);
      if ("documents" in answer) {
        if (!(await store(reading, answer.documents))) return;
        for (const { kind, reason } of answer.documents)
          metrics.attached(kind || "unknown", reason === "" ? "read" : "rejected");
        return;
      }
      metrics.attached("unknown", "failed");
      log.warn({ subject, manifest, reason: answer.reason }, "what is attached to an image could not be read");
      await transactor.write(failAttached, data(), { ...reading, ...answer });
    });
  };
  return async () => {
    const { checks } = await isAny();
    for (let left = MAX_CHECKS; checks && left > 0 && !signal.aborted; left--)
      if (!(await transactor.write(checkNextAttachments, data(), {})).checked) break;
    if (signal.aborted || !(await isAny()).readings) return checks;
    const { claimed } = await transactor.write(claimAttached, data(), { holder });
    if (claimed !== undefined) await readOne(claimed);
    return true;
  };
}
