import { openCall } from "./open-call.ts";
import { type CommandContext, type Commands, commandsOf, runCommand } from "./commands.ts";
import { Code, MoorageError } from "../errors.ts";
import type { Store } from "../store/index.ts";
import type { Command } from "../core/transactor.ts";
import type { Writer } from "./sqlite-transactor.ts";

/** How many commands may be under way or wait for a connection. More are told to come again. */
const MAX_WAITING = 10_000;

/**
 * Commands whose statements see what is committed when each begins. They only add rows, or take turns by locks of their
 * own, on the sequence of events, the pulls or a subscription's lease, and look again at what they waited for; they
 * change nothing but events, pulls, deliveries, leases, and single columns of subscriptions. Serializable they would
 * collide with each other, and with every push that appends to the outbox they read. Source: ADR 12.
 */
const READ_COMMITTED: ReadonlySet<string> = new Set([
  "events.keepPulls",
  "events.notePulls",
  "events.sequence",
  "events.claim",
  "events.record",
  "events.expire",
  "events.releaseAll",
] satisfies (keyof Commands)[]);

/**
 * The transactor over PostgreSQL: each command is a transaction of its own, serializable but for a few, done again when
 * it collides with another.
 */
export function postgresTransactor(store: Store, context: CommandContext): Writer {
  const commands: Readonly<Record<string, Command>> = commandsOf(context);
  let waiting = 0;
  let closing = false;
  let idle: (() => void) | undefined;
  return {
    read: async (data, work) => await work(openCall(data, store.reader)),
    async write(name, data, input) {
      if (closing)
        throw new MoorageError(Code.Unavailable, "Unavailable: the server is shutting down", { retryAfterMs: 1000 });
      if (waiting >= MAX_WAITING)
        throw new MoorageError(Code.Unavailable, "Unavailable: too many writes are waiting", { retryAfterMs: 1000 });
      const command = commands[name];
      if (command === undefined) throw new Error(`there is no command ${name}`);
      waiting += 1;
      try {
        // The sender's type says that the answer is this command's.
        const options = READ_COMMITTED.has(name) ? ({ isolation: "read committed" } as const) : undefined;
        return (await store.transact((tx) => runCommand(command, data, tx, input), options)) as never;
      } finally {
        waiting -= 1;
        if (waiting === 0) idle?.();
      }
    },
    waiting: () => waiting,
    async close() {
      closing = true;
      if (waiting > 0)
        await new Promise<void>((resolve) => {
          idle = resolve;
        });
    },
  };
}
