// All resources of the files, those that others name first, several side by side.
import { Failure } from "../command/failure.ts";
import { applyOne, isThereAlready, type Outcome, type Workings } from "./one.ts";
import type { Declared } from "./parse.ts";
import { existingOn } from "./server.ts";
import { placeText } from "./source.ts";

/** A resource with what became of it. */
export interface Applied {
  readonly declared: Declared;
  readonly outcome: Outcome;
}

export interface AllOptions {
  /** What each one names of the others. */
  dependenciesOf(declared: Declared): readonly Declared[];
  /** Called for each, in the order in which they are worked on, as soon as all before it are done. */
  onDone(applied: Applied): void;
  /** Aborted when nothing more is to be sent. */
  signal: AbortSignal;
  /** The uids of those that are there, which this fills. */
  made: Map<Declared, string>;
}

const CONCURRENCY = 4;

/**
 * Works on all. One that names a failed one is skipped; the others go on. Throws a Failure for resources that name each
 * other in a circle, and the signal's reason.
 */
export async function applyAll(
  workings: Workings,
  all: readonly Declared[],
  { dependenciesOf, onDone, signal, made }: AllOptions,
): Promise<Applied[]> {
  const order = inOrder(all, dependenciesOf);
  const outcomes = new Map<Declared, Promise<Outcome>>();
  const semaphore = createSemaphore(CONCURRENCY);
  const work = async (declared: Declared): Promise<Outcome> => {
    for (const other of dependenciesOf(declared)) {
      const { action } = (await outcomes.get(other)) ?? { action: "skipped" };
      if (action === "failed" || action === "skipped")
        return { action: "skipped", uid: "", changes: [], error: new Failure(`${other.label} is not there`) };
    }
    return await semaphore(async () => {
      signal.throwIfAborted();
      try {
        const outcome = await onceMore(workings, declared);
        if (outcome.uid !== "") made.set(declared, outcome.uid);
        return outcome;
      } catch (error) {
        signal.throwIfAborted();
        return { action: "failed", uid: "", changes: [], error };
      }
    });
  };
  for (const declared of order) {
    const outcome = work(declared);
    // Whoever waits for it throws it.
    outcome.catch(() => {});
    outcomes.set(declared, outcome);
  }
  const applied: Applied[] = [];
  for (const [declared, outcome] of outcomes) {
    const one = { declared, outcome: await outcome };
    applied.push(one);
    onDone(one);
  }
  return applied;
}

/** Looks again for what somebody else has made since it was looked for: now it is compared. */
async function onceMore(workings: Workings, declared: Declared): Promise<Outcome> {
  try {
    return await applyOne(workings, declared);
  } catch (error) {
    if (!isThereAlready(error)) throw error;
    return await applyOne({ ...workings, existing: existingOn(workings.server) }, declared);
  }
}

/** Each after those that it names, and else as in the files. */
function inOrder(all: readonly Declared[], dependenciesOf: AllOptions["dependenciesOf"]): Declared[] {
  const order = new Set<Declared>();
  const path: Declared[] = [];
  const visit = (declared: Declared): void => {
    if (order.has(declared)) return;
    if (path.includes(declared))
      throw new Failure(
        `${placeText(declared.at)}: ${[...path.slice(path.indexOf(declared)), declared].map(({ label }) => label).join(" needs ")}`,
      );
    path.push(declared);
    for (const other of dependenciesOf(declared)) visit(other);
    path.pop();
    order.add(declared);
  };
  for (const declared of all) visit(declared);
  return [...order];
}

function createSemaphore(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
