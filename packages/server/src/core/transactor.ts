import type { Call, CallData } from "./call.ts";
import type { Commands } from "../runtime/commands.ts";

/** What a command takes and gives must survive structured cloning: plain data and byte arrays. */
export type Command = (call: Call, input: never) => Promise<unknown>;

/** The one way to the database for whatever is not a method of the API. */
export interface Transactor {
  /** Runs the work on a reader. It must not write. */
  read<T>(data: CallData, work: (call: Call) => Promise<T>): Promise<T>;
  /**
   * Runs the named command in one transaction, whole or not at all; it is run again after a serialization failure, so
   * it must not reach outside the transaction. On SQLite it runs in the writing thread, committed together with others.
   * Throws what the command throws, as a MoorageError.
   */
  write<K extends keyof Commands>(
    name: K,
    data: CallData,
    input: Parameters<Commands[K]>[1],
  ): Promise<Awaited<ReturnType<Commands[K]>>>;
}
