// A child process that reads documents of libraries. Its tasks are the functions that read small ones elsewhere, too.
import { MoorageError, toPlain } from "../../errors.ts";
import { serveTasks } from "../../lib/process-pool/child.ts";
import type { TaskAnswer } from "./open.ts";
import { loadTask, TASK_NAMES } from "./tasks.ts";

serveTasks(
  Object.fromEntries(
    TASK_NAMES.map((name) => [
      name,
      async (input: unknown): Promise<TaskAnswer> => {
        const work = await loadTask(name);
        try {
          return { value: await (work as (input: unknown) => unknown)(input) };
        } catch (error) {
          if (error instanceof MoorageError) return { error: toPlain(error) };
          throw error;
        }
      },
    ]),
  ),
);
