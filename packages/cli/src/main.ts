// The `moorage` command: its subcommands, and the form of failures (one line on stderr, exit code 1). Commands import
// what they need when they run: most need neither the server nor the API.
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { addBackup } from "./backup.ts";
import { addCall } from "./call.ts";
import { addExport } from "./export.ts";
import { addFeeds } from "./feeds.ts";
import { addFsck } from "./fsck.ts";
import { addGc } from "./gc.ts";
import { addHints } from "./hints.ts";
import { addImport } from "./import.ts";
import { addLogin } from "./login.ts";
import { addLogout } from "./logout.ts";
import { addMcp } from "./mcp.ts";
import { addMigrate } from "./migrate.ts";
import { addPullToken, addPushToken } from "./password-commands.ts";
import { addRestore } from "./restore.ts";
import { addSample } from "./sample.ts";
import { addServe } from "./serve.ts";
import { commandTerm } from "./settings.ts";
import { addSignInLink } from "./sign-in-link.ts";
import { addToken } from "./token.ts";
import { addWhoami } from "./whoami.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};
const program = new Command("moorage")
  .version(version)
  .description("A self-hosted container registry with its control plane.")
  .showHelpAfterError("(moorage --help lists the commands)")
  .configureHelp({ subcommandTerm: commandTerm })
  .exitOverride();
for (const add of [
  addServe,
  addHints,
  addToken,
  addSignInLink,
  addMigrate,
  addBackup,
  addRestore,
  addExport,
  addImport,
  addFsck,
  addGc,
  addFeeds,
  addLogin,
  addLogout,
  addWhoami,
  addCall,
  addMcp,
  addPullToken,
  addPushToken,
  addSample,
])
  add(program);

try {
  await program.parseAsync(argumentsOf(process.argv.slice(2)), { from: "user" });
} catch (error) {
  // Commander has already printed what is wrong with the command line; asking for help is not an error.
  if (!(error instanceof CommanderError))
    console.error(`moorage: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}

/** Turns `help serve` into `serve --help`, which also lists the flags of the settings. */
function argumentsOf(given: string[]): string[] {
  const [first, name] = given;
  const isCommand = program.commands.some((command) => command.name() === name);
  return first === "help" && name !== undefined && isCommand ? [name, "--help"] : given;
}
