import type { Call } from "@moorage/kernel/core/call";
import { command, type CommandOptions, whileFull } from "@moorage/kernel/core/command";

/** One process that serves the installation. */
export interface ServingProcess {
  /** Its name, which no other process and no earlier start has. */
  id: string;
  /** The version of the program. */
  version: string;
  /** The schema version that the program works with. */
  schema: number;
}

// A row of its own for each process: nothing to collide with. What a crash takes back is written again soon.
const OPTIONS = {
  isolation: "read committed",
  durability: "deferred",
} as const satisfies CommandOptions;
// Rows of processes that ended without a farewell are kept for a while, for whoever looks for them.
const FORGET_MS = 3_600_000;

/** Notes that the process serves the installation, for so many milliseconds unless it does so again. */
export const renewProcess = command(
  "processes.renewProcess",
  async (
    { tx, agreedMs }: Call,
    { id, version, schema, holdMs }: ServingProcess & { holdMs: number },
  ): Promise<void> => {
    const until_time = agreedMs + holdMs;
    await tx
      .insertInto("processes")
      .values({ id, version, schema, until_time })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ version, schema, until_time }))
      .execute();
    await tx
      .deleteFrom("processes")
      .where("until_time", "<", agreedMs - FORGET_MS)
      .execute();
  },
  OPTIONS,
);

/** Notes that the process ends. */
export const endProcess = command(
  "processes.endProcess",
  async ({ tx }: Call, { id }: Pick<ServingProcess, "id">): Promise<void> => {
    await tx.deleteFrom("processes").where("id", "=", id).execute();
  },
  OPTIONS,
);

export const processCommands = whileFull([renewProcess, endProcess]);

/** Fails where the database takes no writes: on a standby, or without memory for locks. Changes nothing. */
export async function probeWrites({ tx }: Pick<Call, "tx">): Promise<void> {
  await tx.deleteFrom("processes").where("id", "=", "").execute();
}
