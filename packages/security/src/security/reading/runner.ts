import { randomUUID } from "node:crypto";
import type { Config } from "@moorage/kernel/config";
import type { CallData } from "@moorage/kernel/core/call";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import type { TaskErrorKind } from "@moorage/kernel/lib/process-pool";
import type { Database } from "@moorage/kernel/store";
import { startWorker, type Wakes, whileHeld, yieldToRequests } from "@moorage/kernel/work";
import type { Logger } from "pino";
import { attachedBacklog, type AttachedOutcome, attachedRunner } from "./attached-runner.ts";
import { type ImageReader, imageReader, type ImageReaderDeps, type ReadCatalog } from "./image-reader.ts";
import { type JavaIndex, readJavaIndex } from "../catalog/java-index.ts";
import { itemsOf, partsOf } from "../catalog/parts.ts";
import {
  claimCatalog,
  type Claimed,
  claimOutdated,
  failCatalog,
  HOLD_MS,
  outdated,
  releaseCatalog,
  renewCatalog,
  writeCatalogPart,
} from "../catalog/queue.ts";
import { removeCatalog } from "../catalog/remove.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import type { Component } from "../catalog/types.ts";

/** What is counted. Outcomes: done, failed, again or interrupted. */
interface CatalogMetrics {
  read(outcome: string, ms: number): void;
  /** A process that reads images ended which should not have, or had to be killed. */
  readerDied(kind: TaskErrorKind): void;
  waiting(images: number): void;
  /** A document that is attached to an image, by its kind, `unknown` where it has none, and how its reading ended. */
  attached(kind: string, outcome: AttachedOutcome): void;
  /** Digests to which something may have been attached, and attached manifests that were not read yet. */
  attachedWaiting(backlog: { checks: number; manifests: number }): void;
}

export interface CatalogRunnerDeps {
  config: ImageReaderDeps["config"] & Pick<Config, "javaIndexFile" | "workPollMs">;
  transactor: Transactor;
  wakes: Wakes;
  clock: Clock;
  log: Logger;
  metrics: CatalogMetrics;
}

const COUNT_EVERY_MS = 15_000;
const IMAGES_A_TURN = 8;
/** More are not counted. */
const MAX_COUNTED = 100_000;

/**
 * Reads the images that wait, in this process one that was not attempted yet at a time, and beside it one that was;
 * processes share the work. `stop` ends the readings under way, which another process or the next start does again.
 */
export function startCatalogs(deps: CatalogRunnerDeps): { stop(): Promise<void> } {
  const { transactor, clock, log, metrics, config, wakes } = deps;
  const stopping = new AbortController();
  const reader = imageReader({
    config,
    died(reason, kind) {
      metrics.readerDied(kind);
      log.warn({ reason, kind }, "a process that reads images ended");
    },
  });
  const images = { ...deps, reader, index: readJavaIndex(config), holder: randomUUID(), stopping };
  let countedMs = -COUNT_EVERY_MS;
  const count = async (): Promise<void> => {
    if (clock.monotonicMs() - countedMs < COUNT_EVERY_MS) return;
    countedMs = clock.monotonicMs();
    const { waiting, attached } = await transactor.read(systemCallNow(clock), async ({ tx }) => ({
      waiting: await countWaiting(tx, MAX_COUNTED),
      attached: await attachedBacklog(tx, MAX_COUNTED),
    }));
    metrics.waiting(waiting);
    metrics.attachedWaiting(attached);
  };
  const first = readAll({ ...images, isAgain: false });
  const again = readAll({ ...images, isAgain: true });
  const work = { pollMs: config.workPollMs, stopping, log, what: "reading the packages of images" };
  const fresh = startWorker({ ...work, run: async () => void (await count(), await first()) });
  // What was attempted before waits for its time.
  const attempted = startWorker({ ...work, run: again });
  wakes.on("images", fresh.wake);
  return {
    async stop() {
      stopping.abort();
      // The readings under way are given up, not waited for.
      await Promise.all([fresh.stop(), attempted.stop()]);
      await reader.stop();
    },
  };
}

interface ReadingDeps extends CatalogRunnerDeps {
  reader: ImageReader;
  index: JavaIndex;
  holder: string;
  stopping: AbortController;
  isAgain: boolean;
}

/** Answers a function that reads images and what is attached to them, one after another, until none waits. */
function readAll(deps: ReadingDeps): () => Promise<void> {
  const { stopping } = deps;
  const { readNext: readNextImage, rereadNext } = imageRunner(deps);
  const attached = attachedRunner({ ...deps, signal: stopping.signal });
  return async () => {
    // In turns: neither many images nor much that is attached keeps the other waiting. Most images have nothing
    // attached, so that it is looked for between several of them.
    let images = 0;
    const yieldToOthers = yieldToRequests(stopping.signal);
    for (let isAny = true; isAny && !stopping.signal.aborted;) {
      const isImage = await readNextImage();
      images += 1;
      const isAttached = (!isImage || images % IMAGES_A_TURN === 0) && (await attached.readNext());
      // What was read before has answers, so it comes last, beside the images that are read the first time.
      const rereadsAny = async (): Promise<boolean> => (await rereadNext()) || (await attached.rereadNext());
      isAny = isImage || isAttached || (deps.isAgain && (await rereadsAny()));
      if (isAny) await yieldToOthers();
    }
  };
}

/**
 * `readNext` reads the image that has waited longest, `rereadNext` one that earlier readers read; each answers whether
 * there was any.
 */
function imageRunner(deps: ReadingDeps): { readNext(): Promise<boolean>; rereadNext(): Promise<boolean> } {
  const { transactor, clock, log, metrics, reader, index, holder, stopping, isAgain } = deps;
  const data = (): CallData => systemCallNow(clock);
  const isAnyWaiting = async (): Promise<boolean> =>
    (await transactor.read(data(), (call) =>
      call.tx
        .selectFrom("image_catalogs")
        .select("digest")
        .where("state", "=", CATALOG_STATE.waiting)
        .where("hold_until", "<=", clock.agreedMs())
        .where("attempts", isAgain ? ">" : "=", 0)
        .limit(1)
        .executeTakeFirst(),
    )) !== undefined;
  const readOne = async (claimed: Claimed): Promise<void> => {
    const startedMs = clock.monotonicMs();
    const outcome = await attempt(claimed);
    metrics.read(outcome, clock.monotonicMs() - startedMs);
  };
  const attempt = async ({ digest, layers, reason }: Claimed): Promise<string> => {
    const place = { digest, holder };
    if (layers === undefined) {
      await transactor.write(failCatalog, data(), { ...place, reason: reason ?? "", isFinal: true });
      return "failed";
    }
    const renew = (): Promise<{ held: boolean }> => transactor.write(renewCatalog, data(), place);
    return await whileHeld({ renew, holdMs: HOLD_MS, log, what: "an image" }, async (lost) => {
      const answer = await reader.read(layers, { signal: AbortSignal.any([stopping.signal, lost]), isAgain });
      if (answer === undefined) {
        await transactor.write(releaseCatalog, data(), place);
        return "interrupted";
      }
      if ("parts" in answer) return (await store(place, answer)) ? "done" : "interrupted";
      log.warn({ digest, reason: answer.reason }, "the packages of an image could not be read");
      await transactor.write(failCatalog, data(), { ...place, ...answer });
      return answer.isFinal ? "failed" : "again";
    });
  };
  const store = async (place: { digest: string; holder: string }, { os, unread, parts }: ReadCatalog) => {
    let from = 0;
    const notes = index.notes(unread);
    const all = [...parts, ...partsOf(notes.components)];
    for (let n = 0; ; n++) {
      const part = all[n];
      const components = part === undefined ? [] : itemsOf<Component>(part).map((each) => index.component(each));
      const isLast = n + 1 >= all.length;
      const written = { ...place, from, components, ...(isLast && { end: { os, unread: notes.unread } }) };
      const { held } = await transactor.write(writeCatalogPart, data(), written);
      if (isLast || !held) return held;
      from += components.length;
    }
  };
  const isAnyOutdated = async (): Promise<boolean> =>
    (await transactor.read(data(), ({ tx }) =>
      outdated(tx).select("digest").where("hold_until", "<=", clock.agreedMs()).limit(1).executeTakeFirst(),
    )) !== undefined;
  return {
    async readNext() {
      if (stopping.signal.aborted || !(await isAnyWaiting())) return false;
      const { claimed, again, unused } = await transactor.write(claimCatalog, data(), { holder, isAgain });
      if (unused !== undefined) await transactor.write(removeCatalog, data(), { digest: unused });
      if (claimed !== undefined) await readOne(claimed);
      return claimed !== undefined || again === true;
    },
    async rereadNext() {
      if (stopping.signal.aborted || !(await isAnyOutdated())) return false;
      const { claimed, again } = await transactor.write(claimOutdated, data(), { holder });
      if (claimed !== undefined) await readOne(claimed);
      return claimed !== undefined || again === true;
    },
  };
}

async function countWaiting(tx: Database, most: number): Promise<number> {
  const waiting = tx.selectFrom("image_catalogs").where("state", "=", CATALOG_STATE.waiting);
  let count = 0;
  for (const images of [waiting, outdated(tx)]) {
    const row = await tx
      .selectFrom(images.select("digest").limit(most).as("w"))
      .select(({ fn }) => fn.countAll<number | string>().as("n"))
      .executeTakeFirst();
    count += Number(row?.n ?? 0);
  }
  return count;
}
