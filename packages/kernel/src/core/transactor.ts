import type { Awaitable } from "../lib/awaitable.ts";
import type { Call, CallData } from "./call.ts";
import type { Command } from "./command.ts";

/** The access to the database for everything that is not a method of the API. */
export interface Transactor extends CommandWriter {
  /** Runs the work on a reader. It must not write. */
  read<T>(data: CallData, work: (call: Call) => Awaitable<T>): Promise<T>;
}

/** The writing part of a transactor. */
export interface CommandWriter {
  /**
   * Runs the command in one transaction, whole or not at all. On SQLite it runs in the writer thread, committed
   * together with others. Throws the error that the command throws, as a MoorageError.
   */
  write<Input, Output>(command: Command<Input, Output, never>, data: CallData, input: NoInfer<Input>): Promise<Output>;
}
