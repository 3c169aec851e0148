/**
 * A try that ended, as a delivery keeps it: when it began, how long it took, both in milliseconds, the status that was
 * answered or 0, and why it failed.
 */
type Attempt = [startMs: number, latencyMs: number, status: number, error: string];

const MAX_ATTEMPTS = 50;
const MAX_ERROR_CHARS = 256;

/** What a process left behind when it ended, or lost its lease, during a try. */
export const INTERRUPTED = "interrupted";

/** What there was no turn for in all the time that events are kept. */
export const OVERDUE = "given up: too much waited before it for too long";

/** The kept text with one more, without the oldest of too many. */
export function withAttempt(kept: string, attempt: Attempt): string {
  return JSON.stringify([...attemptsOf(kept), attempt].slice(-MAX_ATTEMPTS));
}

/** The tries of a delivery, oldest first. */
export function attemptsOf(kept: string): Attempt[] {
  return JSON.parse(kept) as Attempt[];
}

/** An error as it is kept. A zero is no text to PostgreSQL, nor is half of a surrogate pair. */
export function errorText(error: string): string {
  return error.slice(0, MAX_ERROR_CHARS).replaceAll("\0", "").toWellFormed();
}
