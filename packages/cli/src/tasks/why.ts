// `moorage why`: whether somebody may do something, what decides it, and what would have to change.
import { Argument, type Command, Option } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import { repeatable } from "./options.ts";
import type { WhyFlags } from "./why-question.ts";

/** Adds `moorage why`. */
export function addWhy(program: Command): void {
  const command = program
    .command("why")
    .description(
      "say whether an identity may do something, what decides it, and what would have to change; ends with 0 if it may and with 5 if not",
    )
    .usage("[options] <identity> <verb> [resource]")
    .addArgument(completes(new Argument("[identity]", "acme/ci, an e-mail address, a uid, or me"), "identity"))
    .addArgument(
      new Argument("[verb]", "pull, push, delete, a command such as repos.update, or ReposService/UpdateRepo"),
    )
    .addArgument(completes(new Argument("[resource]", "acme/app:1.2, a group, or what the command is about"), "image"))
    .option("--anonymous", "ask about whoever has no token, in place of an identity")
    .addOption(
      completes(
        new Option(
          "--token-claims <file>",
          "ask about a token of another issuer: its claims as JSON, or the token itself; - for standard input",
        ),
        "file",
      ),
    )
    .addOption(
      completes(
        repeatable("--capability <name>", "as if the token were narrowed to this capability (repeatable)"),
        "none",
      ),
    )
    .addOption(
      completes(repeatable("--scope <group>", "as if the token were narrowed to this group (repeatable)"), "group"),
    )
    .addOption(
      repeatable(
        "--external-group <group>",
        "a group at the identity provider that a person's token states (repeatable)",
      ),
    );
  addOutputOptions(addServerOptions(command)).action(
    async (one: string | undefined, two: string | undefined, three: string | undefined, flags: WhyFlags) => {
      const { printWhy } = await import("./why-answer.ts");
      await printWhy(
        [one, two, three].filter((word) => word !== undefined),
        flags,
      );
    },
  );
}
