import type { Awaitable } from "@moorage/kernel/lib/awaitable";

/**
 * A pure function of plain data that reads what somebody else has written: it runs in the thread that serves, or in a
 * child process that can be killed. Its module is loaded where it is first needed.
 */
export interface Task<Input = never, Output = unknown> {
  /** `<ecosystem>.<what it makes>`, unique: a child process finds it by that. */
  readonly name: string;
  load(): Promise<(input: Input) => Awaitable<Output>>;
}

/** Declares a task. */
export function task<Input, Output>(
  name: string,
  load: () => Promise<(input: Input) => Awaitable<Output>>,
): Task<Input, Output> {
  return { name, load };
}
