import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { systemCallNow } from "@moorage/kernel/core/system-call";
import type { CommandWriter } from "@moorage/kernel/core/transactor";
import type { Clock } from "@moorage/kernel/lib/clock";
import { describeDifference, differenceOf, NEWEST_VERSION, type Store } from "@moorage/kernel/store";
import { servingProcesses } from "./alike.ts";
import { endProcess, renewProcess } from "./commands.ts";

/** The schema versions at work in the installation. */
interface SchemaVersions {
  /** The database's. */
  database: number;
  /** The lowest and the highest of the programs that serve the installation. */
  lowest: number;
  highest: number;
}

export interface PresenceDeps {
  store: Pick<Store, "version" | "reader">;
  writer: CommandWriter;
  clock: Clock;
  log: Logger;
  /** The version of this program. */
  version: string;
  /**
   * Called after each look: what keeps this process from writing, in one sentence; undefined when nothing does.
   */
  seen(problem: string | undefined): void;
  /** Called after each look that the database answered. */
  versions(versions: SchemaVersions): void;
  /** How often to look, in milliseconds. */
  everyMs?: number;
}

/** The presence of this process among those that serve the installation. */
export interface Presence {
  /** Whether this process may write, by what is known: the transaction itself has the last word. */
  mayWrite(): boolean;
  /** Takes leave, and waits for what is under way. */
  close(): Promise<void>;
}

const EVERY_MS = 5_000;
/** How long a process that ended without a farewell, or is frozen, is still taken to serve. */
const HOLD_MS = 30_000;

/**
 * Announces this process, and looks regularly whether the schema in the database still is the one that it works with.
 * Resolves after the first look, which may fail as any other.
 */
export async function startPresence(deps: PresenceDeps): Promise<Presence> {
  const { store, writer, clock, log, version, seen, versions, everyMs = EVERY_MS } = deps;
  const id = randomUUID();
  let problem: string | undefined;
  const look = async (): Promise<void> => {
    const database = await store.version();
    const found = differenceOf(database) === undefined ? undefined : describeDifference(database);
    if (found !== problem) {
      if (found === undefined) log.warn("the database is of this program's schema again: it writes as before");
      else log.error({ schema: database, known: NEWEST_VERSION }, found);
      problem = found;
    }
    seen(problem);
    if (problem === undefined)
      await writer.write(renewProcess, systemCallNow(clock), {
        id,
        version,
        schema: NEWEST_VERSION,
        holdMs: HOLD_MS,
      });
    const schemas = (await servingProcesses(store.reader, clock.agreedMs())).map(({ schema }) => schema);
    versions({
      database,
      lowest: Math.min(...schemas, NEWEST_VERSION),
      highest: Math.max(...schemas, NEWEST_VERSION),
    });
  };
  let looking: Promise<void> | undefined;
  const start = (): Promise<void> =>
    (looking ??= look()
      .catch((error: unknown) => log.warn({ err: error }, "looking at the database's schema failed"))
      .finally(() => {
        looking = undefined;
      }));
  await start();
  const timer = setInterval(() => void start(), everyMs).unref();
  return {
    mayWrite: () => problem === undefined,
    async close() {
      clearInterval(timer);
      await looking;
      if (problem !== undefined) return;
      await writer
        .write(endProcess, systemCallNow(clock), { id })
        .catch((error: unknown) => log.warn({ err: error }, "taking leave of the other processes failed"));
    },
  };
}
