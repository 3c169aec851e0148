import { Code, MoorageError } from "@moorage/kernel/errors";
import type { Database, Store } from "@moorage/kernel/store";
import { probeWrites } from "@moorage/platform/processes";
import { openCall } from "./open-call.ts";
import { commandContext, commandNamed, type CommandSettings, type Ran, runCommand } from "./commands.ts";
import { runAsMember, sharedCommits } from "./shared-commits.ts";
import type { Writer, WriterEvents } from "./sqlite-transactor.ts";

/** How many commands may be running or wait for a connection. Further ones are rejected with UNAVAILABLE. */
const MAX_WAITING = 10_000;

/**
 * The transactor over PostgreSQL: each command is its own transaction, or shares one with others that are known not to
 * meet it. It is done again when it collides with another.
 */
export function postgresTransactor(
  store: Store,
  { onWake = () => {}, ...settings }: CommandSettings & Pick<WriterEvents, "onWake">,
): Writer {
  const context = commandContext(settings);
  const byKind = new Map<string, ReturnType<typeof sharedCommits>>();
  const shareIn = (kind: string): ReturnType<typeof sharedCommits> => {
    const share = byKind.get(kind) ?? sharedCommits(store);
    byKind.set(kind, share);
    return share;
  };
  let waiting = 0;
  let closing = false;
  let idle: (() => void) | undefined;
  return {
    read: async (data, work) => await work(openCall(data, store.reader)),
    async write({ name }, data, input) {
      if (closing)
        throw new MoorageError(Code.Unavailable, "Unavailable: the server is shutting down", { retryAfterMs: 1000 });
      if (waiting >= MAX_WAITING)
        throw new MoorageError(Code.Unavailable, "Unavailable: too many writes are waiting", { retryAfterMs: 1000 });
      const command = commandNamed(name);
      waiting += 1;
      try {
        const { isolation, durability } = command;
        const isDryRun = command.isDryRun(input as never);
        // Others must not wait for a transaction that is rolled back, nor be run again because of it.
        const sharing = isDryRun ? undefined : command.sharingOf(input as never);
        const work = (tx: Database): Promise<Ran> => runCommand(command, { data, input, tx, context });
        // The signature of Transactor.write says that the output is this command's.
        const { output, wakes } = (await (sharing === undefined
          ? store.transact((tx) => runAsMember(tx, work), { isolation, durability, isDryRun })
          : shareIn(sharing.kind)({ ...sharing, durability }, work))) as Ran;
        if (wakes.length > 0) onWake(new Set(wakes));
        return output as never;
      } finally {
        waiting -= 1;
        if (waiting === 0) idle?.();
      }
    },
    waiting: () => waiting,
    // A standby answers reads, and a server without memory for locks everything but serializable transactions.
    probe: () => store.transact((tx) => probeWrites({ tx })),
    async close() {
      closing = true;
      if (waiting > 0)
        await new Promise<void>((resolve) => {
          idle = resolve;
        });
    },
  };
}
