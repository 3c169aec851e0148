/** Tells the time. Tests move it; nothing else in the server asks the system for the time of day. */
export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };
