import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { endProcess } from "@moorage/kernel/lib/end-process";

// Longer than the log gathers lines (observe/log.ts).
const LAST_LINES_MS = 300;

/** How a server ended. */
export interface Closed {
  /** What was cut off because it took too long, or failed to close, each in a few words. Empty after a clean end. */
  cut: readonly string[];
}

export interface CloseOptions {
  /**
   * How long requests are still taken while `/readyz` answers 503 already, in milliseconds. Calling `close` again
   * without it ends it. Defaults to none.
   */
  delayMs?: number;
}

/** Something that serves until it is closed. */
export interface Closing {
  close(options?: CloseOptions): Promise<Closed>;
}

/**
 * Closes the server and ends this process: with code 0, or with 1 when something was cut off, which the log says. A
 * process in which something hangs ends all the same.
 */
export async function closeAndExit(server: Closing, options: CloseOptions = {}): Promise<never> {
  const { cut } = await server.close(options);
  // Handles that a library may have left open must not keep the process running.
  if (cut.length === 0) process.exit(0);
  // A write of the log that is under way would end with the process.
  await wait(LAST_LINES_MS);
  return endProcess(1);
}

/**
 * Has SIGTERM and SIGINT close the server and end this process. SIGTERM comes from a machine, which may have load
 * balancers that must notice: requests are still taken for `delayMs`. A second signal, or SIGINT, ends that.
 */
export function endOnSignals(server: Closing, delayMs: number): void {
  let isStopping = false;
  const stop = (options: CloseOptions): void => {
    if (isStopping) return void server.close();
    isStopping = true;
    void closeAndExit(server, options);
  };
  process.on("SIGTERM", () => stop({ delayMs })).on("SIGINT", () => stop({}));
}

/** Logs how a server ended. */
export function logClosed(log: Logger, cut: readonly string[], message: string): void {
  if (cut.length === 0) log.info(message);
  else log.error({ cut }, `${message}, but not all of it came to its end`);
}
