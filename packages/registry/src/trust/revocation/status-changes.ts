import type { Row } from "@moorage/kernel/store";
import { STATUS_STATE } from "../command-options.ts";
import type { KnownStatus } from "../verify/statuses.ts";
import type { CertificateStatus } from "../x509/single-status.ts";
import type { StatusOutput } from "./status-tasks.ts";

type StatusRow = Row<"certificate_statuses">;

/** What came of asking about a certificate. */
export type StatusChange = Pick<StatusRow, "next_time" | "failed_time" | "message" | "attempts"> &
  Partial<Pick<StatusRow, "state" | "from_time" | "until_time" | "since_time" | "revoke_time">>;

/** The times between two questions about a certificate. */
const SOONEST_MS = 60_000;
const LATEST_MS = 86_400_000;
/** The first pause after a question without an answer, and the longest. */
const RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 3_600_000;
const MAX_MESSAGE = 300;

/**
 * What is kept after a question. An answer is asked for again at half of its life. One that is older than what is kept
 * changes nothing: whoever replays it must not take a revocation back.
 */
export function changeOf(before: StatusRow, output: StatusOutput, nowMs: number): StatusChange {
  if ("problem" in output) return failure(before, output.problem, nowMs);
  const { status } = output;
  const isOlder = before.from_time !== null && status.fromMs < before.from_time;
  if (isOlder && (before.until_time ?? 0) <= nowMs)
    return failure(before, "its answer is older than the one that is kept, which has ended", nowMs);
  const well = { failed_time: null, message: "", attempts: 0 };
  const next_time = Math.trunc(nowMs + pauseMs((isOlder ? (before.until_time ?? 0) : status.untilMs) - nowMs));
  return isOlder ? { ...well, next_time } : { ...well, next_time, ...columnsOf(status) };
}

function failure({ failed_time, attempts }: StatusRow, problem: string, nowMs: number): StatusChange {
  return {
    failed_time: failed_time ?? nowMs,
    message: problem.slice(0, MAX_MESSAGE).toWellFormed().replaceAll("\0", "\ufffd"),
    attempts: attempts + 1,
    next_time: nowMs + Math.min(LONGEST_RETRY_MS, RETRY_MS * 2 ** Math.min(attempts, 10)),
  };
}

function pauseMs(lifeMs: number): number {
  return Math.min(LATEST_MS, Math.max(SOONEST_MS, lifeMs / 2));
}

function columnsOf({ state, fromMs, untilMs, revokedMs, sinceMs }: CertificateStatus): Partial<StatusChange> {
  const time = (ms: number | undefined): number | null => (ms === undefined ? null : Math.trunc(ms));
  return {
    state: STATUS_STATE[state],
    from_time: time(fromMs),
    until_time: time(untilMs),
    since_time: time(sinceMs),
    revoke_time: time(revokedMs),
  };
}

const STATES: Readonly<Record<number, KnownStatus["state"]>> = {
  [STATUS_STATE.good]: "good",
  [STATUS_STATE.revoked]: "revoked",
  [STATUS_STATE.unknown]: "unknown",
};

/** What a row says to whoever verifies. */
export function knownStatus(row: StatusRow): KnownStatus {
  const { until_time, revoke_time, since_time, failed_time } = row;
  return {
    state: STATES[row.state] ?? "none",
    problem: row.message,
    ...(until_time !== null && { untilMs: until_time }),
    ...(revoke_time !== null && { revokedMs: revoke_time }),
    ...(since_time !== null && { sinceMs: since_time }),
    ...(failed_time !== null && { failedMs: failed_time }),
  };
}

/** Whether what depends on the certificate is to be verified anew: another answer, or asking begins or ends to fail. */
export function isOtherStatus(before: StatusRow, after: StatusRow): boolean {
  const seen = ({ state, until_time, since_time, revoke_time, failed_time }: StatusRow): string =>
    JSON.stringify([state, until_time, since_time, revoke_time, failed_time]);
  return seen(before) !== seen(after);
}
