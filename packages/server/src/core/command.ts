import type { Call } from "./call.ts";

/** How a command's transaction is isolated from others on PostgreSQL. On SQLite every one is serializable. */
export type Isolation = "serializable" | "read committed";

/**
 * Something that the server writes, in one transaction: whole or not at all. A feature declares its commands as values,
 * its index.ts lists them, and runtime/commands.ts collects all lists.
 */
export interface Command<Input, Output, Context = unknown> {
  /** `area.verbNoun`, unique: by it the command is found in the writer thread, and counted in metrics. */
  readonly name: string;
  readonly isolation: Isolation;
  /** Whether what it commits may be an event that is to be delivered. */
  readonly wakesDelivery: boolean;
  readonly run: CommandFunction<Input, Output, Context>;
}

/**
 * What a command does. It is run again after a serialization failure, so it must not reach outside the transaction.
 * Input and output must survive structured cloning: plain data and byte arrays. The context holds what the command
 * needs beyond its call, such as the secrets; runtime gives it.
 */
export type CommandFunction<Input, Output, Context = unknown> = (
  call: Call,
  input: Input,
  context: Context,
) => Promise<Output>;

export interface CommandOptions {
  /** Default: serializable. */
  isolation?: Isolation;
  /** Default: true. */
  wakesDelivery?: boolean;
}

/** Declares a command. */
export function command<Input, Output, Context = unknown>(
  name: string,
  run: CommandFunction<Input, Output, Context>,
  { isolation = "serializable", wakesDelivery = true }: CommandOptions = {},
): Command<Input, Output, Context> {
  return { name, isolation, wakesDelivery, run };
}
