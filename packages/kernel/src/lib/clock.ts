/**
 * The source of times. Tests replace it; no other code in the server asks the system for the time of day. Each time is
 * in milliseconds; those of different methods must not be compared with each other.
 */
export interface Clock {
  /**
   * The time of day, since 1970: for what people read and for what has a time of day as its end, such as tokens. It
   * jumps when the system's clock is set.
   */
  nowMs(): number;
  /**
   * Time since some moment, which never goes back and never jumps: for rates, pauses and ages in the memory of this
   * process. It means nothing to other processes.
   */
  monotonicMs(): number;
  /**
   * The time on which the processes of an installation agree, whatever their clocks show: for
   * leases and for when work in the database is due. It does not jump when a clock is set, and may be far from the time
   * of day. Source: docs/adr/0013.
   */
  agreedMs(): number;
}

/** The clocks of this process. Its agreed time is its own time of day. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  agreedMs: () => Date.now(),
};

/** A clock whose times all follow one function, so that a test moves them together. */
export function clockOf(nowMs: () => number): Clock {
  return { nowMs, monotonicMs: nowMs, agreedMs: nowMs };
}
