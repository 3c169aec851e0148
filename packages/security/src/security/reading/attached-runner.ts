import type { CallData } from "@moorage/kernel/core/call";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type Database, select } from "@moorage/kernel/store";
import { whileHeld } from "@moorage/kernel/work";
import type { Logger } from "pino";
import type { ImageReader, ReadDocument } from "./image-reader.ts";
import { itemsOf } from "../catalog/parts.ts";
import { HOLD_MS } from "../catalog/queue.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import type { Component } from "../catalog/types.ts";
import { checkNextAttachments } from "../attached/check.ts";
import { areDocumentsToBeJudged, checkNextDocumentPolicies } from "../attached/document-policies.ts";
import {
  claimAttached,
  type ClaimedManifest,
  claimOutdatedAttached,
  failAttached,
  finishAttached,
  type Reading,
  releaseAttached,
  renewAttached,
  writeAttachedPart,
  writeAttachedStatements,
} from "../attached/queue.ts";
import { outdatedReadings } from "../attached/older-readings.ts";
import type { StoredStatement } from "../attached/types.ts";

/** How the reading of a document ended: it was read, does not count, or its manifest could not be read. */
export type AttachedOutcome = "read" | "rejected" | "failed";

export interface AttachedRunnerDeps {
  metrics: { attached(kind: string, outcome: AttachedOutcome): void };
  transactor: Transactor;
  clock: Clock;
  log: Logger;
  reader: ImageReader;
  holder: string;
  /** Whether it reads what was attempted before, and nothing else. */
  isAgain: boolean;
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
  const again = await tx
    .selectFrom(outdatedReadings(tx).select("manifest").limit(most).as("o"))
    .select(({ fn }) => fn.countAll<number | string>().as("n"))
    .executeTakeFirst();
  return { checks: Number(row?.checks ?? 0), manifests: Number(row?.manifests ?? 0) + Number(again?.n ?? 0) };
}

/** A part without items. */
const EMPTY = Buffer.from("[]");

/** The most that is looked at between two readings, so that images go on being read. */
const MAX_CHECKS = 50;

/**
 * `readNext` looks at what may have been attached, and reads the manifest that has waited longest; `rereadNext` reads
 * one that earlier readers read. Each answers whether there was anything to do.
 */
export function attachedRunner(deps: AttachedRunnerDeps): {
  readNext(): Promise<boolean>;
  rereadNext(): Promise<boolean>;
} {
  const { transactor, clock, log, metrics, reader, holder, isAgain, signal } = deps;
  const data = (): CallData => systemCallNow(clock);
  const isAny = async (): Promise<{ checks: boolean; readings: boolean; policies: boolean }> => {
    return await transactor.read(data(), async ({ tx, nowMs }) => {
      const check = await tx.selectFrom("attachment_checks").select("id").limit(1).executeTakeFirst();
      const reading = await tx
        .selectFrom("attached_readings")
        .select("manifest")
        .where("state", "=", CATALOG_STATE.waiting)
        .where("hold_until", "<=", clock.agreedMs())
        .where("attempts", isAgain ? ">" : "=", 0)
        .limit(1)
        .executeTakeFirst();
      const policies = !isAgain && (await areDocumentsToBeJudged(tx, nowMs));
      return { checks: check !== undefined, readings: reading !== undefined, policies };
    });
  };
  const store = async (reading: Reading, documents: readonly ReadDocument[]): Promise<boolean> => {
    for (const { document, componentParts, statementParts } of documents) {
      const { n } = document;
      let from = 0;
      // The first part, though it be empty, takes the place of what an earlier attempt wrote.
      for (const part of componentParts.length === 0 ? [EMPTY] : componentParts) {
        const components = itemsOf<Component>(part);
        const { held } = await transactor.write(writeAttachedPart, data(), { ...reading, n, from, components });
        if (!held) return false;
        from += components.length;
      }
      from = 0;
      for (const part of statementParts.length === 0 ? [EMPTY] : statementParts) {
        const statements = itemsOf<StoredStatement>(part);
        const { held } = await transactor.write(writeAttachedStatements, data(), { ...reading, n, from, statements });
        if (!held) return false;
        from += statements.length;
      }
    }
    const finished = documents.map(({ document }) => document);
    return (await transactor.write(finishAttached, data(), { ...reading, documents: finished })).held;
  };
  const readOne = async ({ subject, manifest, layers }: ClaimedManifest): Promise<void> => {
    const reading = { subject, manifest, holder };
    const renew = (): Promise<{ held: boolean }> => transactor.write(renewAttached, data(), reading);
    await whileHeld({ renew, holdMs: HOLD_MS, log, what: "an attached manifest" }, async (lost) => {
      const answer =
        layers.length === 0
          ? { documents: [] }
          : await reader.readAttached(subject, layers, { signal: AbortSignal.any([signal, lost]), isAgain });
      if (answer === undefined) return await transactor.write(releaseAttached, data(), reading);
      if ("documents" in answer) {
        if (!(await store(reading, answer.documents))) return;
        for (const { document } of answer.documents)
          metrics.attached(document.kind || "unknown", document.reason === "" ? "read" : "rejected");
        return;
      }
      metrics.attached("unknown", "failed");
      log.warn({ subject, manifest, reason: answer.reason }, "what is attached to an image could not be read");
      await transactor.write(failAttached, data(), { ...reading, ...answer });
    });
  };
  const isAnyOutdated = async (): Promise<boolean> =>
    (await transactor.read(data(), ({ tx }) =>
      outdatedReadings(tx).select("manifest").where("hold_until", "<=", clock.agreedMs()).limit(1).executeTakeFirst(),
    )) !== undefined;
  return {
    async readNext() {
      const { checks, policies } = isAgain ? { checks: false, policies: false } : await isAny();
      if (policies && !signal.aborted) await transactor.write(checkNextDocumentPolicies, data(), {});
      for (let left = MAX_CHECKS; checks && left > 0 && !signal.aborted; left--)
        if (!(await transactor.write(checkNextAttachments, data(), {})).checked) break;
      if (signal.aborted || !(await isAny()).readings) return checks || policies;
      const { claimed } = await transactor.write(claimAttached, data(), { holder, isAgain });
      if (claimed !== undefined) await readOne(claimed);
      return true;
    },
    async rereadNext() {
      if (signal.aborted || !(await isAnyOutdated())) return false;
      const { claimed, again } = await transactor.write(claimOutdatedAttached, data(), { holder });
      if (claimed !== undefined) await readOne(claimed);
      return claimed !== undefined || again === true;
    },
  };
}
