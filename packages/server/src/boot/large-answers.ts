import { availableParallelism } from "node:os";
import { extname } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config/index.ts";
import { processPool } from "../lib/process-pool/index.ts";
import { type LargeAnswers, largeAnswers } from "../runtime/large-answers.ts";
import type { Base } from "./base.ts";
import type { LargeProcessData } from "./large-process.ts";
import type { Shutdown } from "./shutdown.ts";
import type { Storage } from "./storage.ts";

/** A second process on machines that have a processor for it beside that of requests and that of writes. */
const SIZE = availableParallelism() > 3 ? 2 : 1;
const HEAP_MIB = 768;
const IDLE_MS = 60_000;
/** More never wait there: large answers wait for their memory first. */
const MAX_WAITING = 64;

/** Opens the processes that make large answers. They start with the first one, and end when they had nothing to do. */
export function openLargeAnswers(
  config: Config,
  { secretKeys }: Base,
  { context }: Pick<Storage, "context">,
  log: Logger,
  shutdown: Shutdown,
): LargeAnswers {
  const data: LargeProcessData = { config, context, secretKeys };
  const pool = processPool({
    module: new URL(`./large-process${extname(import.meta.url)}`, import.meta.url),
    size: SIZE,
    maxHeapMiB: HEAP_MIB,
    idleMs: IDLE_MS,
    maxWaiting: MAX_WAITING,
    data,
    onDeath: (reason, kind) => log.warn({ reason, kind }, "a process that makes large answers has ended"),
  });
  shutdown.at("auditor", () => pool.stop());
  return largeAnswers(pool);
}
