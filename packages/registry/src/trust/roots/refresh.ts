import type { Logger } from "pino";
import { TrustRootState } from "@moorage/api/messages";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type ProcessPool, processPool, TaskError } from "@moorage/kernel/lib/process-pool";
import { programFile } from "@moorage/kernel/lib/program-file";
import { makeTempFolder } from "@moorage/kernel/lib/temp-folders";
import type { Database, Row } from "@moorage/kernel/store";
import { type CopyChange, noteTufRefresh, placeTufMirror } from "./copies.ts";
import { OF_SETTINGS } from "./naming.ts";
import type { TufSource } from "./tuf-source.ts";
import type { TufFetched, TufInput } from "./tuf-tasks.ts";

export interface RefreshDeps {
  transactor: Transactor;
  reader: Database;
  clock: Clock;
  log: Logger;
  /** The mirror of the settings. */
  mirror: TufSource | undefined;
  rules: TufInput["rules"];
}

/** The most that are refreshed in a run: the next one goes on. */
const MAX_AT_ONCE = 100;
/** How long all requests for one may take together. */
const TIMEOUT_MS = 60_000;
/** One that failed is due again sooner. */
const RETRY_MS = 15 * 60_000;
const MAX_MESSAGE = 500;
/** What the process reads from the environment: whom it trusts beside the authorities that Node knows. */
const ENVIRONMENT = ["NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Whether a trust root is to be fetched, or the mirror of the settings is another one than before. */
export async function isAnyDue({ reader, clock, mirror }: RefreshDeps): Promise<boolean> {
  if (await isPlaced(reader, mirror)) return (await dueCopies(reader, clock.nowMs(), 1)).length > 0;
  return true;
}

/** Refreshes the trust roots that are due. What fails is noted at its root, and logged. */
export async function refreshRoots(
  deps: RefreshDeps,
  signal: AbortSignal,
): Promise<{ refreshed: number; failed: number }> {
  const { transactor, reader, clock, log, mirror } = deps;
  if (!(await isPlaced(reader, mirror)))
    await transactor.write(placeTufMirror, systemCallNow(clock), mirror === undefined ? {} : { mirror });
  const counts = { refreshed: 0, failed: 0 };
  // A process of its own: it reads what somebody else made, and may have to be killed.
  const pool = processPool({
    module: programFile("tuf-tasks", import.meta.url),
    size: 1,
    maxHeapMiB: 256,
    idleMs: 1_000,
    maxWaiting: 1,
    environment: ENVIRONMENT,
    data: undefined,
  });
  try {
    for (const copy of await dueCopies(reader, clock.nowMs(), MAX_AT_ONCE)) {
      signal.throwIfAborted();
      const fetched = await fetchCopy(pool, deps, copy, signal);
      const change = changeOf(copy, fetched, clock.nowMs());
      const { trust_root, source, next_time } = copy;
      await transactor.write(noteTufRefresh, systemCallNow(clock), { copy: { trust_root, source, next_time }, change });
      if (change.state === TrustRootState.READY) counts.refreshed += 1;
      else {
        counts.failed += 1;
        log.warn({ trustRoot: copy.trust_root, reason: change.message }, "refreshing a trust root failed");
      }
    }
  } finally {
    await pool.stop();
  }
  return counts;
}

async function isPlaced(reader: Database, mirror: TufSource | undefined): Promise<boolean> {
  const row = await reader
    .selectFrom("tuf_copies")
    .select("source")
    .where("trust_root", "=", OF_SETTINGS)
    .executeTakeFirst();
  return row?.source === mirror?.source;
}

async function dueCopies(reader: Database, nowMs: number, max: number): Promise<Row<"tuf_copies">[]> {
  return await reader
    .selectFrom("tuf_copies")
    .selectAll()
    .where("next_time", "<=", nowMs)
    .orderBy("next_time")
    .orderBy("trust_root")
    .limit(max)
    .execute();
}

/** What the mirror has now, or why that is not known. */
async function fetchCopy(
  pool: ProcessPool,
  { rules }: RefreshDeps,
  { url, root, metadata }: Row<"tuf_copies">,
  signal: AbortSignal,
): Promise<TufFetched | string> {
  const temp = makeTempFolder("tuf");
  try {
    const kept = metadata === "" ? { root } : (JSON.parse(metadata) as TufInput["kept"]);
    const input: TufInput = { url, kept, folder: temp.path, rules };
    return await pool.run<TufFetched>("fetch", input, { timeoutMs: TIMEOUT_MS, signal });
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    if (error.kind === "aborted") throw signal.reason;
    return error.kind === "timeout" ? `it took longer than ${TIMEOUT_MS / 1_000} seconds` : error.message;
  } finally {
    await temp.remove();
  }
}

function changeOf(copy: Row<"tuf_copies">, fetched: TufFetched | string, nowMs: number): CopyChange {
  const { interval_ms: everyMs } = copy;
  if (typeof fetched === "object" && fetched.expireMs > nowMs) {
    const { metadata, trustedRoot, expireMs } = fetched;
    return {
      state: TrustRootState.READY,
      message: "",
      metadata: JSON.stringify(metadata),
      trusted_root: trustedRoot,
      expire_time: expireMs,
      refresh_time: nowMs,
      next_time: Math.min(nowMs + everyMs, expireMs),
    };
  }
  const reason = typeof fetched === "string" ? fetched : "the mirror's metadata has expired";
  const { expire_time: expireMs } = copy;
  const retryMs = nowMs + Math.min(everyMs, RETRY_MS);
  if (expireMs === null) return { state: TrustRootState.WAITING, message: messageOf(reason), next_time: retryMs };
  if (expireMs <= nowMs) {
    const since = `what was fetched from the mirror expired at ${new Date(expireMs).toISOString()}: ${reason}`;
    return { state: TrustRootState.EXPIRED, message: messageOf(since), next_time: retryMs };
  }
  return { state: TrustRootState.FAILED, message: messageOf(reason), next_time: Math.min(retryMs, expireMs) };
}

/** The text without what databases refuse to store. */
function messageOf(text: string): string {
  return text.slice(0, MAX_MESSAGE).toWellFormed().replaceAll("\0", "\ufffd");
}
