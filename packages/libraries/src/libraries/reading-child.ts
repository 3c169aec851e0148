// A child process that reads documents of libraries. Its tasks are the functions that read small ones elsewhere, too.
import { MoorageError, toPlain } from "@moorage/kernel/errors";
import { serveTasks } from "@moorage/kernel/lib/process-pool/child";
import { taskNamed } from "./ecosystem/lookup.ts";
import { loadEcosystems } from "./ecosystems.ts";
import type { NamedTask, TaskAnswer } from "./reading/open.ts";

/** What a child begins with. */
export interface ReadingData {
  /** The modules of further ecosystems, by URL. */
  ecosystems: readonly string[];
}

async function run({ task, input }: NamedTask, { ecosystems }: ReadingData): Promise<TaskAnswer> {
  await loadEcosystems(ecosystems);
  const work = await taskNamed(task).load();
  try {
    return { value: await work(input as never) };
  } catch (error) {
    if (error instanceof MoorageError) return { error: toPlain(error) };
    throw error;
  }
}

serveTasks({ run });
