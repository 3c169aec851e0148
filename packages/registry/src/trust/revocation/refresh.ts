import type { Logger } from "pino";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { Transactor } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { type ProcessPool, processPool, TaskError } from "@moorage/kernel/lib/process-pool";
import { programFile } from "@moorage/kernel/lib/program-file";
import type { Database, Row } from "@moorage/kernel/store";
import { changeOf } from "./status-changes.ts";
import type { StatusInput, StatusOutput } from "./status-tasks.ts";
import { noteCertificateStatus } from "./statuses.ts";

export interface StatusDeps {
  transactor: Transactor;
  reader: Database;
  clock: Clock;
  log: Logger;
  rules: StatusInput["rules"];
}

type StatusRow = Row<"certificate_statuses">;

/** The most that are asked about in a run, and how many together: the next run goes on. */
const MAX_AT_ONCE = 200;
const TOGETHER = 2;
/** How long one question may take with reading what comes. */
const TIMEOUT_MS = 15_000;
/** What the processes read from the environment: whom they trust beside the authorities that Node knows. */
const ENVIRONMENT = ["NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Whether an authority is to be asked. */
export async function isStatusDue({ reader, clock }: Pick<StatusDeps, "reader" | "clock">): Promise<boolean> {
  return (await dueStatuses(reader, clock.nowMs(), 1)).length > 0;
}

/** Asks about the certificates that are due. What fails is noted at them, and logged. */
export async function refreshStatuses(
  deps: StatusDeps,
  signal: AbortSignal,
): Promise<{ asked: number; failed: number }> {
  const { reader, clock } = deps;
  const pool = processPool({
    module: programFile("status-tasks", import.meta.url),
    size: TOGETHER,
    maxHeapMiB: 256,
    idleMs: 1_000,
    maxWaiting: TOGETHER,
    environment: ENVIRONMENT,
    data: undefined,
  });
  const counts = { asked: 0, failed: 0 };
  // Who cannot be reached is not waited for again in this run, however many certificates name it.
  const silent = new Map<string, StatusOutput>();
  const due = await dueStatuses(reader, clock.nowMs(), MAX_AT_ONCE);
  const work = async (): Promise<void> => {
    for (let row = due.shift(); row !== undefined; row = due.shift()) {
      signal.throwIfAborted();
      const output = silent.get(row.host) ?? (await ask(pool, deps, row, signal));
      if ("problem" in output && output.isUnreachable) silent.set(row.host, output);
      counts.asked += 1;
      if ("problem" in output) counts.failed += 1;
      await note(deps, row, output);
    }
  };
  try {
    await Promise.all(Array.from({ length: TOGETHER }, work));
  } finally {
    await pool.stop();
  }
  return counts;
}

async function dueStatuses(reader: Database, nowMs: number, max: number): Promise<StatusRow[]> {
  return await reader
    .selectFrom("certificate_statuses")
    .selectAll()
    .where("next_time", "<=", nowMs)
    .orderBy("next_time")
    .orderBy("certificate")
    .limit(max)
    .execute();
}

async function ask(
  pool: ProcessPool,
  { rules, clock }: StatusDeps,
  { certificate_der: certificate, issuer_der: issuer }: StatusRow,
  signal: AbortSignal,
): Promise<StatusOutput> {
  const input: StatusInput = { certificate, issuer, rules, nowMs: clock.nowMs() };
  try {
    return await pool.run<StatusOutput>("ask", input, { timeoutMs: TIMEOUT_MS, signal });
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    if (error.kind === "aborted") throw signal.reason;
    const problem = error.kind === "timeout" ? `it took longer than ${TIMEOUT_MS / 1_000} seconds` : error.message;
    return { problem, isUnreachable: error.kind === "timeout" };
  }
}

async function note({ transactor, clock, log }: StatusDeps, row: StatusRow, output: StatusOutput): Promise<void> {
  const { certificate, issuer, next_time, name, host } = row;
  const asked = { certificate, issuer, next_time };
  const change = changeOf(row, output, clock.nowMs());
  await transactor.write(noteCertificateStatus, systemCallNow(clock), { asked, change });
  if ("problem" in output)
    log.warn({ certificate: name, host, reason: change.message }, "asking whether a certificate is revoked failed");
}
