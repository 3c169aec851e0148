import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { CallData } from "../../core/call.ts";
import { systemCallNow } from "../../core/system-call.ts";
import type { Transactor } from "../../core/transactor.ts";
import type { Clock } from "../../lib/clock.ts";
import { attachedBacklog, type AttachedOutcome, attachedRunner } from "../attached/runner.ts";
import {
  claimCatalog,
  type Claimed,
  failCatalog,
  HOLD_MS,
  PART_ROWS,
  releaseCatalog,
  renewCatalog,
  writeCatalogPart,
} from "./queue.ts";
import { startPolling, whileHeld, yieldToRequests } from "../work.ts";
import { removeCatalog } from "./remove.ts";
import { CATALOG_STATE } from "./rows.ts";
import { catalogThread, type CatalogThreadDeps } from "./thread.ts";
import type { Catalog } from "./types.ts";

/** What is counted. Outcomes: done, failed, again or interrupted. */
export interface CatalogMetrics {
  read(outcome: string, ms: number): void;
  waiting(images: number): void;
  /** A document that is attached to an image, by its kind, `unknown` where it has none, and how its reading ended. */
  attached(kind: string, outcome: AttachedOutcome): void;
  /** Digests to which something may have been attached, and attached manifests that were not read yet. */
  attachedWaiting(backlog: { checks: number; manifests: number }): void;
}

export interface CatalogRunnerDeps extends CatalogThreadDeps {
  transactor: Transactor;
  clock: Clock;
  log: Logger;
  metrics: CatalogMetrics;
}

const POLL_EVERY_MS = 1_000;
const COUNT_EVERY_MS = 15_000;
const IMAGES_A_TURN = 8;
/** More are not counted. */
const MAX_COUNTED = 100_000;

/**
 * Reads the images that wait, one at a time in this process; processes share the work. `stop` ends the reading under
 * way, which another process or the next start does again.
 */
export function startCatalogs(deps: CatalogRunnerDeps): { stop(): Promise<void> } {
  const { transactor, clock, log, metrics } = deps;
  const holder = randomUUID();
  const stopping = new AbortController();
  const thread = catalogThread(deps);
  let countedMs = -COUNT_EVERY_MS;
  const data = (): CallData => systemCallNow(clock);
  const count = async (): Promise<void> => {
    if (clock.monotonicMs() - countedMs < COUNT_EVERY_MS) return;
    countedMs = clock.monotonicMs();
    const rows = await transactor.read(data(), (call) =>
      call.tx
        .selectFrom((from) =>
          from
            .selectFrom("image_catalogs")
            .select("digest")
            .where("state", "=", CATALOG_STATE.waiting)
            .limit(MAX_COUNTED)
            .as("w"),
        )
        .select(({ fn }) => fn.countAll<number | string>().as("n"))
        .executeTakeFirst(),
    );
    metrics.waiting(Number(rows?.n ?? 0));
    metrics.attachedWaiting(await transactor.read(data(), ({ tx }) => attachedBacklog(tx, MAX_COUNTED)));
  };
  const isAnyWaiting = async (): Promise<boolean> =>
    (await transactor.read(data(), (call) =>
      call.tx
        .selectFrom("image_catalogs")
        .select("digest")
        .where("state", "=", CATALOG_STATE.waiting)
        .where("hold_until", "<=", clock.agreedMs())
        .limit(1)
        .executeTakeFirst(),
    )) !== undefined;
  const readNextAttached = attachedRunner({
    transactor,
    clock,
    log,
    metrics,
    thread,
    holder,
    signal: stopping.signal,
  });
  const readNext = async (): Promise<boolean> => {
    if (stopping.signal.aborted || !(await isAnyWaiting())) return false;
    const { claimed, again, unused } = await transactor.write(claimCatalog, data(), { holder });
    if (unused !== undefined) await transactor.write(removeCatalog, data(), { digest: unused });
    if (claimed !== undefined) await readOne(claimed);
    return claimed !== undefined || again === true;
  };
  const poll = async (): Promise<void> => {
    await count();
    // In turns: neither many images nor much that is attached keeps the other waiting. Most images have nothing
    // attached, so that it is looked for between several of them.
    let images = 0;
    const yieldToOthers = yieldToRequests(stopping.signal);
    for (let isAny = true; isAny && !stopping.signal.aborted;) {
      const isImage = await readNext();
      images += 1;
      const isAttached = (!isImage || images % IMAGES_A_TURN === 0) && (await readNextAttached());
      isAny = isImage || isAttached;
      if (isAny) await yieldToOthers();
    }
  };
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
      const answer = await thread.read(layers, AbortSignal.any([stopping.signal, lost]));
      if (answer === undefined) {
        await transactor.write(releaseCatalog, data(), place);
        return "interrupted";
      }
      if ("catalog" in answer) return (await store(place, answer.catalog)) ? "done" : "interrupted";
      log.warn({ digest, reason: answer.reason }, "the packages of an image could not be read");
      await transactor.write(failCatalog, data(), { ...place, ...answer });
      return answer.isFinal ? "failed" : "again";
    });
  };
  const store = async (
    place: { digest: string; holder: string },
    { components, os, unread }: Catalog,
  ): Promise<boolean> => {
    for (let from = 0; ; from += PART_ROWS) {
      const isLast = from + PART_ROWS >= components.length;
      const part = {
        from,
        components: components.slice(from, from + PART_ROWS),
        ...(isLast && { end: { os, unread } }),
      };
      const { held } = await transactor.write(writeCatalogPart, data(), { ...place, ...part });
      if (isLast || !held) return held;
    }
  };
  const stop = startPolling(poll, { everyMs: POLL_EVERY_MS, stopping, log, what: "reading the packages of images" });
  return {
    async stop() {
      await stop();
      await thread.stop();
    },
  };
}
