// Waits for what a server does with its feeds by itself, and prints what became of each.
import { setTimeout as wait } from "node:timers/promises";
import { Failure } from "./command/failure.ts";
import { interruption } from "./command/interrupt.ts";
import { EXIT } from "./command/exit-codes.ts";
import { coverageText, dueText, fetchedText } from "./feed-lines.ts";
import type { FeedView } from "./feed-view.ts";
import { plain, printable } from "./printable.ts";

// The server fetches one feed after the other, each for an hour at most.
const PATIENCE_MS = 3_600_000;
const FIRST_MS = 250;
const LONGEST_MS = 5_000;

/**
 * Waits until the server has fetched the feeds, and prints a line for each in the order in which they end, with
 * `isAdded` what it covers as well. A failure sets the exit code. Throws a Failure when none ends for an hour, and when
 * the command is interrupted: the server goes on.
 */
export async function untilFetched(
  feeds: () => Promise<FeedView[]>,
  names: readonly string[],
  { isAdded }: { isAdded: boolean },
): Promise<void> {
  const left = new Set(names);
  console.error(`the server fetches ${plain(names.join(", "))} …`);
  await poll(`the server goes on fetching; moorage feeds list says what became of it`, async () => {
    const all = new Map((await feeds()).map((feed) => [feed.name, feed]));
    let isAnyDone = false;
    for (const name of left) {
      const feed = all.get(name);
      if (feed !== undefined && !isDone(feed)) continue;
      left.delete(name);
      isAnyDone = true;
      if (feed === undefined || feed.isGoing) complain(name, "was removed before it was fetched");
      else printOutcome(feed, isAdded);
    }
    return left.size === 0 ? "done" : isAnyDone ? "goes on" : "nothing new";
  });
}

/** Waits until the server has removed the feed. Throws as untilFetched does. */
export async function untilRemoved(feeds: () => Promise<FeedView[]>, name: string): Promise<void> {
  let records = Infinity;
  await poll("the server goes on removing it", async () => {
    const feed = (await feeds()).find((each) => each.name === name);
    if (feed === undefined) return "done";
    const isFewer = feed.records < records;
    records = feed.records;
    return isFewer ? "goes on" : "nothing new";
  });
}

/** Whether the last attempt that was asked for has ended: a server forgets the request then. */
function isDone({ requestMs, attemptMs, successMs, error, isGoing, address }: FeedView): boolean {
  if (isGoing || address === "") return true;
  const isAsked = requestMs !== undefined;
  return !isAsked && attemptMs !== undefined && (error !== "" || (successMs ?? 0) >= attemptMs);
}

function printOutcome(feed: FeedView, isAdded: boolean): void {
  if (feed.error !== "") complain(feed.name, feed.error);
  else console.log(printable(fetchedText(feed)));
  if (!isAdded) return;
  console.log(`  covers: ${coverageText(feed)}`);
  console.log(`  next update: ${dueText(feed)}`);
}

function complain(name: string, problem: string): void {
  console.error(printable(`moorage: ${name}: ${problem}`));
  process.exitCode = EXIT.error;
}

async function poll(left: string, ask: () => Promise<"done" | "goes on" | "nothing new">): Promise<void> {
  const signal = interruption();
  let untilMs = Date.now() + PATIENCE_MS;
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(LONGEST_MS, pauseMs * 1.5)) {
    const state = await ask();
    if (state === "done") return;
    if (state === "goes on") {
      untilMs = Date.now() + PATIENCE_MS;
      pauseMs = FIRST_MS;
    }
    if (Date.now() > untilMs) throw new Failure(`nothing has ended for an hour: ${left}`, { exit: EXIT.unavailable });
    try {
      await wait(pauseMs, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      const { exit } = signal.reason as Failure;
      throw new Failure(`stopped waiting: ${left}`, { exit, cause: error });
    }
  }
}
