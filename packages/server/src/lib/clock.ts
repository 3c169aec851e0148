/**
 * The source of the current time. Tests replace it; no other code in the server asks the system for the time of day.
 */
export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
