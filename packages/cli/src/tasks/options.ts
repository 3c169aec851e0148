import { type Command, InvalidArgumentError, Option } from "commander";
import { addWatchOptions } from "../terminal/watch-options.ts";

/** Adds `--limit`, `--page-size`, `--watch` and `--interval`, as every list has them. */
export function addListOptions(command: Command): Command {
  return addWatchOptions(
    command
      .option("--limit <number>", "print at most so many; all unless given", parseCount)
      .option("--page-size <number>", "how many to ask for in one request, 200 at most", parseCount),
  );
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1.");
  return Number(text);
}

/** An option that may be given several times, each with one value. */
export function repeatable(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}
