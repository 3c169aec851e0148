// The `moorage` command: what it can do, and how a failure looks (one line on stderr, exit code 1).
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addBackup } from "./backup.ts";
import { addCall } from "./call.ts";
import { addExport } from "./export.ts";
import { addFsck } from "./fsck.ts";
import { addGc } from "./gc.ts";
import { addImport } from "./import.ts";
import { addLogin } from "./login.ts";
import { addLogout } from "./logout.ts";
import { addMigrate } from "./migrate.ts";
import { addPullToken } from "./pull-token.ts";
import { addRestore } from "./restore.ts";
import { addSample } from "./sample.ts";
import { addServe } from "./serve.ts";
import { addToken } from "./token.ts";
import { addWhoami } from "./whoami.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const program = new Command("moorage")
  .version(version)
  .description("A self-hosted container registry with its control plane.")
  .showHelpAfterError("(moorage --help tells what there is)")
  .exitOverride();
for (const add of [
  addServe,
  addToken,
  addMigrate,
  addBackup,
  addRestore,
  addExport,
  addImport,
  addFsck,
  addGc,
  addLogin,
  addLogout,
  addWhoami,
  addCall,
  addPullToken,
  addSample,
])
  add(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander has already said what was wrong with the command line; asking for help is not an error.
  if (!(error instanceof CommanderError))
    console.error(`moorage: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
