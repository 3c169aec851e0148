import { availableParallelism } from "node:os";
import type { Config } from "@moorage/kernel/config";
import { fromPlain, type PlainError } from "@moorage/kernel/errors";
import { processPool } from "@moorage/kernel/lib/process-pool";
import { programFile } from "@moorage/kernel/lib/program-file";
import type { MadeVex, ReadScanned } from "@moorage/security/security";
import type { Logger } from "pino";
import { type LargeAnswers, largeAnswers } from "../runtime/large-answers.ts";
import type { Base } from "./base.ts";
import type { LargeProcessData, ReportTask, VexTask } from "./large-process.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Storage } from "./storage.ts";

/** A second process on machines that have a processor for it beside that of requests and that of writes. */
const SIZE = availableParallelism() > 3 ? 2 : 1;
const HEAP_MIB = 768;
const IDLE_MS = 60_000;
/** More never wait there: large answers wait for their memory first. */
const MAX_WAITING = 64;

/** What other processes do, since it would hold the thread of requests for too long. */
export interface LargeWork {
  answers: LargeAnswers;
  vexElsewhere(place: VexTask["place"], image: VexTask["image"]): Promise<MadeVex>;
  readElsewhere(content: Uint8Array, isSbom: boolean): Promise<ReadScanned>;
}

const TIMEOUT_MS = 120_000;

/** Opens the processes. They start with the first large answer, and end when they had nothing to do for a while. */
export function openLargeWork(
  config: Config,
  { secretKeys, observation }: Base,
  { context }: Pick<Storage, "context">,
  log: Logger,
  shutdown: Shutdown,
): LargeWork {
  const data: LargeProcessData = { config, context, secretKeys };
  const pool = processPool({
    module: programFile("large-process", import.meta.url),
    size: SIZE,
    maxHeapMiB: HEAP_MIB,
    idleMs: IDLE_MS,
    maxWaiting: MAX_WAITING,
    data,
    onDeath: (reason, kind) => log.warn({ reason, kind }, "a process that makes large answers has ended"),
  });
  shutdown.at("auditor", () => pool.stop());
  const answers = largeAnswers(pool, observation.large);
  observation.large.watch(answers.use);
  return {
    answers,
    async vexElsewhere(place, image) {
      const task: VexTask = { place, image };
      const made = await pool.run<MadeVex | { error: PlainError }>("imageVex", task, { timeoutMs: TIMEOUT_MS });
      if ("error" in made) throw fromPlain(made.error);
      observation.large.worked("vex");
      return made;
    },
    async readElsewhere(content, isSbom) {
      const task: ReportTask = { content, isSbom };
      const read = await pool.run<ReadScanned>("scanReport", task, { timeoutMs: TIMEOUT_MS });
      observation.large.worked("report");
      return read;
    },
  };
}
