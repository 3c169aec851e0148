// `moorage migrate`: migrates the database to the schema version of this program, like a start of the server does.
import type { Command } from "commander";
import { addSettings, type FlagValues, namesPlace } from "./settings.ts";

/** Adds `moorage migrate`. With `--check` it changes nothing, and ends with 1 when a migration is needed. */
export function addMigrate(program: Command): void {
  const command = program
    .command("migrate")
    .description("bring the database to the version this moorage works with")
    .option("--check", "only look: exit code 1 when there is something to do");
  const configOf = addSettings(command, namesPlace);
  command.action(async (values: FlagValues) => {
    const check = values["check"] === true;
    const { migrateInstallation } = await import("@moorage/server");
    const { found, now, newest, pending } = await migrateInstallation(await configOf(values), { check });
    console.log(`database: version ${now}${found === now ? "" : `, was ${found}`}; this moorage: version ${newest}`);
    // An empty database has all of them before it, which says nothing to anybody.
    if (found > 0) for (const { version, name } of pending) console.log(`to do: ${version}, ${name}`);
    if (check && now !== newest) process.exitCode = 1;
  });
}
