// The flags of commands that can watch; terminal/watch.ts does it.
import type { Command } from "commander";
import { durationOfFlag } from "../command/duration.ts";
import { UsageFailure } from "../command/failure.ts";
import type { OutputFlags } from "../output/output.ts";

const LEAST_MS = 1000;
const MOST_MS = 86_400_000;

/** The flags of commands that can watch. */
export interface WatchFlags extends OutputFlags {
  watch?: boolean;
  /** A duration: how long to wait before asking again. */
  interval?: string;
}

/** Adds `--watch` and `--interval`. */
export function addWatchOptions(command: Command): Command {
  return command
    .option("-w, --watch", "ask again and again: redraws a table on a terminal, else prints what changed")
    .option("--interval <duration>", "how long to wait before asking again, such as 10s; 2s unless given");
}

/** The interval of the flags in milliseconds. Throws a UsageFailure for one that is too short or too long. */
export function intervalOf({ interval }: { interval?: string }): number {
  if (interval === undefined) return 2000;
  const ms = durationOfFlag("--interval", interval);
  if (ms < LEAST_MS || ms > MOST_MS) throw new UsageFailure("must be between 1s and 24h", { field: "--interval" });
  return ms;
}
