import type { ChangeKeys } from "../store/index.ts";
import type { Call } from "./call.ts";

/** How a command's transaction is isolated from others on PostgreSQL. On SQLite all are serializable. */
type Isolation = "serializable" | "read committed";

/**
 * When a transaction is on disk: before its caller is answered, or a moment later. A crash of the machine, or of
 * PostgreSQL, takes back the latest of the deferred ones, never one that a durable one came after.
 */
type Durability = "durable" | "deferred";

/**
 * When the events of a transaction get their numbers: as soon as may be, or with those of a later transaction, and half
 * a second after it at the latest.
 */
type Numbering = "soon" | "later";

/**
 * By what a command of some input meets others, where it may share a transaction with them on PostgreSQL. They run
 * concurrently there, statement by statement, so of two in one transaction neither may read what the other one writes.
 */
export interface Sharing {
  /** Commands of one kind share transactions. Those of different kinds never do. */
  kind: string;
  /** What it writes and another command of the kind may read or write. */
  writes: readonly string[];
  /** What it reads and another command of the kind may write. Defaults to nothing. */
  reads?: readonly string[];
}

/**
 * A write of the server in one transaction, committed whole or not at all. An area declares its commands as values,
 * and lists them in its area.ts.
 */
export interface Command<Input, Output, Context = unknown> {
  /** `area.verbNoun`, unique: finds the command in the writer thread, and counts it in metrics. */
  readonly name: string;
  readonly isolation: Isolation;
  readonly durability: Durability;
  readonly numbering: Numbering;
  /** See CommandOptions. */
  sharingOf(input: Input): Sharing | undefined;
  /** See CommandOptions. */
  changes(input: Input, output: Output): ChangeKeys | undefined;
  /** See CommandOptions. */
  isDryRun(input: Input): boolean;
  /** See CommandOptions. */
  runsWhileFull(input: Input): boolean;
  readonly run: CommandFunction<Input, Output, Context>;
}

/**
 * The work of a command. It runs again after a serialization failure, so it must have no effects outside the
 * transaction. Input and output must survive structured cloning: plain data and byte arrays. The context holds what the
 * command needs beyond its call, such as the secrets; runtime provides it.
 */
export type CommandFunction<Input, Output, Context = unknown> = (
  call: Call,
  input: Input,
  context: Context,
) => Promise<Output>;

export interface CommandOptions<Input = never, Output = never> {
  /** Defaults to serializable. */
  isolation?: Isolation;
  /**
   * Defaults to durable. Deferred only for what the server would do again by itself, or a client whose next step is
   * refused without it (docs/adr/0030-an-image-is-one-durable-act.md).
   */
  durability?: Durability;
  /**
   * Defaults to soon. Later where another command nearly always follows within moments, whose events are numbered
   * together with these: a transaction less, which waits for the disk.
   */
  numbering?: Numbering;
  /** By what it meets others that share its transaction. Undefined, the default, for a transaction of its own. */
  sharingOf?(input: Input): Sharing | undefined;
  /**
   * The keys of what it has changed in declarable tables (store/uncached-tables.ts), of which cached answers are made:
   * an empty list ends none. Undefined, the default, for everything, which it is as well when it has changed another
   * table. A key that is left out is a stale answer that nothing reports.
   */
  changes?(input: Input, output: Output): ChangeKeys | undefined;
  /** Whether all that a command of this input writes is rolled back, and only its output stays. Defaults to false. */
  isDryRun?(input: Input): boolean;
  /**
   * Whether it is run although the disk is full, on the space that is kept for it (lib/disk-reserve.ts): small writes
   * of those who are signed in, and what frees space. Everything else waits until there is space again. Defaults to
   * false.
   */
  runsWhileFull?(input: Input): boolean;
}

/** The same commands, which run while the disk is full; see CommandOptions. */
export function whileFull<const L extends readonly Pick<Command<never, unknown>, "runsWhileFull">[]>(commands: L): L {
  return commands.map((each) => ({ ...each, runsWhileFull: () => true })) as unknown as L;
}

/** Declares a command. */
export function command<Input, Output, Context = unknown>(
  name: string,
  run: CommandFunction<Input, Output, Context>,
  {
    isolation = "serializable",
    durability = "durable",
    numbering = "soon",
    sharingOf = () => undefined,
    changes = () => undefined,
    isDryRun = () => false,
    runsWhileFull = () => false,
  }: CommandOptions<Input, Output> = {},
): Command<Input, Output, Context> {
  return { name, isolation, durability, numbering, sharingOf, changes, isDryRun, runsWhileFull, run };
}
