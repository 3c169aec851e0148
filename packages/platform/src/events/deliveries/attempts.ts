/**
 * An ended attempt, as its delivery stores it: when it began and how long it took, both in milliseconds, the HTTP
 * status or 0 without a response, and the error.
 */
type Attempt = [startMs: number, latencyMs: number, status: number, error: string];

const MAX_ATTEMPTS = 50;
const MAX_ERROR_CHARS = 256;

/** The error of an attempt whose process ended, or lost its lease, before the attempt did. */
export const INTERRUPTED = "interrupted";

/** The error of a delivery that others before it delayed for longer than deliveries are retained. */
export const OVERDUE = "given up: too much waited before it for too long";

/** Appends an attempt to the stored text, without the oldest ones over the limit. */
export function withAttempt(stored: string, attempt: Attempt): string {
  return JSON.stringify([...attemptsOf(stored), attempt].slice(-MAX_ATTEMPTS));
}

/** The attempts of a delivery, oldest first. */
export function attemptsOf(stored: string): Attempt[] {
  return JSON.parse(stored) as Attempt[];
}

/** An error as it is stored. PostgreSQL rejects null characters and unpaired surrogates. */
export function errorText(error: string): string {
  return error.slice(0, MAX_ERROR_CHARS).replaceAll("\0", "").toWellFormed();
}
