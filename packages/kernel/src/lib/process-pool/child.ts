import type { FromChild, ToChild } from "./messages.ts";

/**
 * A task: gets the input and the data of the pool. What it throws becomes a TaskError of the kind `failed` with its
 * message, which is final when the error has `isFinal: true`.
 */
export type Task = (input: never, data: never) => Promise<unknown>;

const MAX_MESSAGE = 2_000;

/** Answers tasks, one at a time, by their names. Called once by the module of a pool, in a child process. */
export function serveTasks(tasks: Readonly<Record<string, Task>>): void {
  let data: unknown;
  const send = (message: FromChild): void => void process.send?.(message);
  const answer = async (id: number, task: string, input: unknown): Promise<void> => {
    try {
      const work = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
      if (work === undefined) throw new Error(`the pool has no task ${task}`);
      send({ id, output: await work(input as never, data as never) });
    } catch (error) {
      const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE);
      const isFinal = error instanceof Error && "isFinal" in error && error.isFinal === true;
      send({ id, message, isFinal });
    }
  };
  process.on("message", (message: ToChild) => {
    if ("data" in message) data = message.data;
    else void answer(message.id, message.task, message.input);
  });
  send({ ready: true });
}
