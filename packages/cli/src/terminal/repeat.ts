// Work that is done again and again.
import { setTimeout as delay } from "node:timers/promises";
import { EXIT } from "../command/exit-codes.ts";
import { exitOf, lineOf } from "../command/failure.ts";

/**
 * Does work, and again after each interval, until the signal, whose reason it throws. Once it has been done, a server
 * that is not available is waited for: `failed` gets what to say, in one line.
 */
export async function repeat(
  work: (round: number) => Promise<void>,
  { intervalMs, signal, failed }: { intervalMs: number; signal: AbortSignal; failed(problem: string): void },
): Promise<never> {
  for (let round = 0; ; round += 1) {
    try {
      await work(round);
    } catch (error) {
      signal.throwIfAborted();
      if (round === 0 || exitOf(error) !== EXIT.unavailable) throw error;
      failed(lineOf(error));
    }
    await delay(intervalMs, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}
