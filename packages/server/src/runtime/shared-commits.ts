import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Sharing } from "@moorage/kernel/core/command";
import {
  type Database,
  DeclarationError,
  type Member,
  shareTransaction,
  type Store,
  type TransactOptions,
  TransientError,
  WATCHES_ROWS,
} from "@moorage/kernel/store";
import { requireApart } from "./declared-meetings.ts";

// A commit waits for the disk and costs a dozen round trips, and transactions that change neighboring rows collide
// (ADR 5). So commands that are known not to meet each other share one: whatever arrives while it is under way goes
// into the next one. ADR 14.

/** How many commands share a transaction at most. */
const MOST = 64;
// Who has just been answered commonly asks for the next; one transaction costs less than two that take turns.
const GATHER_MS = 2;
// After this time the next ones begin beside it: it may wait for a lock that they do not need.
const PATIENCE_MS = 100;
// How often a transaction is tried that collides with others, each time with half of the commands. Those that are left
// then go on by themselves.
const ATTEMPTS = 3;
// How long a command waits for its turn at most: collisions put it back, and those with its key go one by one.
const LONGEST_WAIT_MS = 30_000;

/** What a command reads and writes, by names that all who share agree on, and whether its commit waits for the disk. */
interface Touches extends Pick<Sharing, "writes" | "reads"> {
  durability?: TransactOptions["durability"];
}

/** A command that waits for its transaction. */
interface Waiting {
  touches: Touches;
  sinceMs: number;
  run(tx: Database): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What a command came to, inside a transaction that is not committed yet. */
type Outcome = { value: unknown } | { error: unknown; hasWritten: boolean };

/**
 * Runs commands in shared transactions, each time those that wait. What one of them writes no other one in its
 * transaction reads or writes. A command that fails before it has written does not affect the others; otherwise the
 * transaction is done again without it, and the command in one of its own. After a collision it is done again with half
 * of the commands, those that have waited longest. Throws what the command throws, and UNAVAILABLE for one whose turn
 * does not come in time.
 */
export function sharedCommits(
  store: Pick<Store, "transact">,
  { longestWaitMs = LONGEST_WAIT_MS }: { longestWaitMs?: number } = {},
): (touches: Touches, run: (tx: Database) => Promise<unknown>) => Promise<unknown> {
  let waiting: Waiting[] = [];
  let isBusy = false;
  let isScheduled = false;
  const startSoon = (later: (start: () => void) => unknown): void => {
    if (isBusy || isScheduled) return;
    isScheduled = true;
    later(start);
  };
  const start = (): void => {
    isScheduled = false;
    if (isBusy || waiting.length === 0) return;
    isBusy = true;
    const batch = takeFirst();
    let isCurrent = true;
    const next = (): void => {
      if (isCurrent) isBusy = false;
      isCurrent = false;
      startSoon((later) => (batch.length < 2 ? later() : setTimeout(later, GATHER_MS)));
    };
    const timer = setTimeout(next, PATIENCE_MS);
    void commit(batch).finally(() => {
      clearTimeout(timer);
      // Those that it has put back are waiting again, even when others have begun in the meantime.
      next();
    });
  };
  /** Those that have waited longest and do not meet. None overtakes one that it meets. */
  const takeFirst = (): Waiting[] => {
    const untilMs = performance.now() - longestWaitMs;
    const [read, written] = [new Set<string>(), new Set<string>()];
    const batch: Waiting[] = [];
    waiting = waiting.filter((one) => {
      if (one.sinceMs < untilMs) {
        one.reject(
          new MoorageError(Code.Unavailable, "Unavailable: too many writes are waiting", { retryAfterMs: 1000 }),
        );
        return false;
      }
      if (batch.length === MOST) return true;
      const { writes, reads = [] } = one.touches;
      const meets =
        writes.some((name) => written.has(name) || read.has(name)) || reads.some((name) => written.has(name));
      for (const name of writes) written.add(name);
      for (const name of reads) read.add(name);
      if (!meets) batch.push(one);
      return meets;
    });
    return batch;
  };
  const commit = async (batch: Waiting[]): Promise<void> => {
    const [first] = batch;
    if (batch.length < 2) return first && (await commitAlone(first));
    let attempts = 0;
    let members = batch;
    const isDeferred = batch.every(({ touches }) => touches.durability === "deferred");
    const options: TransactOptions = isDeferred ? { durability: "deferred" } : {};
    try {
      const outcomes = await store.transact(async (tx) => {
        // Every process takes the locks of rows in the same order.
        members = batch.slice(0, batch.length >> attempts).toSorted(inOrderOfLocks);
        attempts += 1;
        if (attempts > ATTEMPTS || members.length < 2) throw new Spoiled(() => true);
        return await runTogether(tx, members);
      }, options);
      for (const [at, outcome] of outcomes.entries())
        if ("value" in outcome) members[at]?.resolve(outcome.value);
        else members[at]?.reject(outcome.error);
    } catch (error) {
      if (error instanceof Spoiled) {
        members = members.filter((_, at) => error.by(at));
        for (const one of members) void commitAlone(one);
      } else for (const one of members) one.reject(error);
    }
    // The others have had no part in it.
    const done = new Set(members);
    waiting.unshift(...batch.filter((one) => !done.has(one)));
  };
  const commitAlone = async ({ touches, run, resolve, reject }: Waiting): Promise<void> => {
    try {
      resolve(await store.transact((tx) => runAsMember(tx, run), { durability: touches.durability }));
    } catch (error) {
      reject(error);
    }
  };
  return (touches, run) =>
    new Promise((resolve, reject) => {
      waiting.push({ touches, sinceMs: performance.now(), run, resolve, reject });
      // All commands of one turn of the event loop.
      startSoon(setImmediate);
    });
}

/**
 * Runs a command in a transaction of its own as the only one of those that share it, so that what it asks for in one
 * turn is sent in one packet. Of a statement's error and one of the command, which may follow from it, throws the one
 * that is meant for callers.
 */
export async function runAsMember<T>(tx: Database, run: (tx: Database) => Promise<T>): Promise<T> {
  let outcome: { value: T } | { error: unknown } | undefined;
  try {
    await shareTransaction(tx, async (join) => {
      const member = join();
      try {
        outcome = { value: await run(member.db) };
      } catch (error) {
        outcome = { error };
      } finally {
        member.end();
      }
    });
  } catch (error) {
    const meant = outcome !== undefined && "error" in outcome && outcome.error instanceof MoorageError;
    if (error instanceof TransientError || !meant) throw error;
  }
  if (outcome === undefined) throw new Error("the command was not run");
  if ("error" in outcome) throw outcome.error;
  return outcome.value;
}

function inOrderOfLocks({ touches: one }: Waiting, { touches: other }: Waiting): number {
  const [a = "", b = ""] = [one.writes[0], other.writes[0]];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The transaction cannot be committed because of some of its commands, which are to be done by themselves. */
class Spoiled extends Error {
  readonly by: (at: number) => boolean;

  constructor(by: (at: number) => boolean) {
    super("a shared transaction failed");
    this.by = by;
  }
}

async function runTogether(tx: Database, members: readonly Waiting[]): Promise<Outcome[]> {
  const outcomes = await shareTransaction(tx, async (join) => {
    const joined = members.map(({ run, touches }) => ({ run, touches, member: join() }));
    const outcomes = await Promise.all(
      joined.map(async ({ run, member }): Promise<Outcome> => {
        try {
          return { value: await run(member.db) };
        } catch (error) {
          return { error, hasWritten: member.hasWritten };
        } finally {
          member.end();
        }
      }),
    );
    if (WATCHES_ROWS && !outcomes.some(spoils)) await requireDeclared(joined, join().db);
    return outcomes;
  }).catch((error: unknown) => {
    // A defect would be one of the others' as well, as long as it is not known whose it is.
    const isOfAll = error instanceof TransientError && !error.mayBeDefect;
    throw isOfAll || error instanceof DeclarationError ? error : new Spoiled(() => true);
  });
  if (outcomes.some(spoils)) throw new Spoiled((at) => spoils(outcomes[at]));
  return outcomes;
}

function spoils(outcome: Outcome | undefined): boolean {
  return outcome !== undefined && "error" in outcome && outcome.hasWritten;
}

/** Throws a DeclarationError when some of them meet that do not declare it. `db`: the same transaction. */
async function requireDeclared(joined: readonly { touches: Touches; member: Member }[], db: Database): Promise<void> {
  const members = joined.map(({ touches, member }) => ({ name: touches.writes.join(", "), ...member.touched() }));
  await requireApart(members, db);
}
