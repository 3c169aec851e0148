// One command line from its words to the exit code.
import { type Command, CommanderError } from "commander";
import { showRequests } from "./http/debug.ts";
import { applyTrust, type TrustFlags } from "./http/trust.ts";
import { EXIT } from "./command/exit-codes.ts";
import { exitOf, lineOf, UsageFailure } from "./command/failure.ts";
import { type Leading, takeLeading } from "./command/global-options.ts";
import { programFor } from "./program.ts";

/** Runs a command line and sets the exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  endWithReader();
  const { flags, rest } = takeLeading(argv);
  const words = asHelp(rest);
  try {
    const program = await programFor(words[0], words.slice(1));
    program.hook("preAction", async (_, command) => {
      handDown(command, flags);
      showRequests(command.getOptionValue("debug") === true);
      await applyTrust(command.opts<TrustFlags>());
    });
    if (words.length === 0) return void program.outputHelp();
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has already printed what is wrong; asking for help is not an error.
      process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
      return;
    }
    console.error(`moorage: ${lineOf(error)}`);
    process.exitCode = exitOf(error);
  }
}

/** Turns `help repos create` into `repos create --help`. */
function asHelp([first, ...names]: readonly string[]): string[] {
  if (first !== "help") return first === undefined ? [] : [first, ...names];
  return [...names.filter((name) => !name.startsWith("-")), "--help"];
}

/** Gives the command the flags that stood before its name. Its own have precedence. */
function handDown(command: Command, flags: Leading["flags"]): void {
  for (const [attribute, value] of flags) {
    const option = command.options.find((each) => each.attributeName() === attribute);
    if (option === undefined) {
      const flag = attribute.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      throw new UsageFailure(`this command does not take it`, { field: `--${flag}` });
    }
    if (command.getOptionValueSource(attribute) === undefined)
      command.setOptionValueWithSource(attribute, value, "cli");
  }
}

/** Ends the process quietly when nobody reads its output any longer, as `| head` does. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.ok);
    throw error;
  });
}
