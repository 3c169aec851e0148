// Names that completion offers beside the words of its table: of this machine, and of a server within a time that
// nobody notices.
import { callerOf } from "./caller.ts";
import { type Candidate, type Offer, starting } from "./candidates.ts";
import { listsOf } from "./lists.ts";
import type { Position } from "./position.ts";
import { wordsFor } from "./walk.ts";

/** The first word of the process that asks with more time; that of the others is `__complete`. */
export const LATER_WORD = "__complete-later";

// From the start of the process to its end.
const ANSWER_WITHIN_MS = 300;
// What starting another process, printing and ending take.
const SPARE_MS = 70;
// On a machine that is so busy that the start alone took the time.
const LEAST_MS = 50;
const REFRESH_MS = 10_000;
const CLAIM_MS = 3_000;

/**
 * What is offered for a value with a source. `later`: this is the process that asks with more time and fills the cache
 * for the next answer.
 */
export async function namesAt({ value, text, flags }: Position, later: boolean): Promise<Offer> {
  const source = value?.source;
  if (source === undefined) return { candidates: [] };
  if (source === "context" || source === "server") return { candidates: starting(await local(source), text) };
  const caller = await callerOf(flags, later);
  if (later) {
    const lists = listsOf(caller, AbortSignal.timeout(REFRESH_MS));
    return { candidates: await wordsFor(source, text, lists) };
  }
  const timeLeft = new AbortController();
  const { promise: late, resolve: giveUp } = Promise.withResolvers<undefined>();
  const endOfTime = (): void => {
    giveUp(undefined);
    timeLeft.abort();
  };
  const timer = setTimeout(endOfTime, timeLeftMs());
  const asked = wordsFor(source, text, listsOf(caller, timeLeft.signal)).catch(() => undefined);
  const found = await Promise.race([asked, late]);
  clearTimeout(timer);
  if (found !== undefined) return { candidates: found };
  if (caller.cache.claim(CLAIM_MS)) await refreshLater();
  return { candidates: await wordsFor(source, text, listsOf(caller, undefined)) };
}

/** How long a server may take; MOORAGE_COMPLETION_MS is for the whole. */
function timeLeftMs(): number {
  const withinMs = Number(process.env["MOORAGE_COMPLETION_MS"]) || ANSWER_WITHIN_MS;
  return Math.max(LEAST_MS, withinMs - SPARE_MS - performance.now());
}

async function local(source: "context" | "server"): Promise<Candidate[]> {
  if (source === "server") {
    const { readLogins } = await import("../credentials.ts");
    return Object.keys(readLogins()).map((word) => ({ word, help: "" }));
  }
  const { readContexts } = await import("../config/contexts.ts");
  const { contexts } = readContexts();
  return Object.entries(contexts).map(([word, { url, dataDir }]) => ({ word, help: url ?? dataDir ?? "" }));
}

/**
 * Has another process ask the same with more time, so that the next answer comes from the cache: of a slow server, or
 * of one whose token must be refreshed first.
 */
async function refreshLater(): Promise<void> {
  const { spawn } = await import("node:child_process");
  const [program = "", , ...words] = process.argv.slice(1);
  // An executable is Node and the program in one.
  const file = program === process.execPath ? [] : [program];
  spawn(process.execPath, [...file, LATER_WORD, ...words], { detached: true, stdio: "ignore" })
    .on("error", () => {})
    .unref();
}
