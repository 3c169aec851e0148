// The commands made by hand of `moorage personal-tokens`; what they do is loaded when they run.
import { Argument, Option, type Command } from "commander";
import { addServerOptions } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { addOutputOptions } from "../output/output.ts";
import type { Tasks } from "./tasks.ts";
import { addListOptions, repeatable } from "./options.ts";
import type { CreateFlags, ListTokensFlags } from "./personal-token-work.ts";
import type { TaskFlags } from "./session.ts";
import { PERMISSION_WORDS } from "./token-permissions.ts";

/** `create`, `list` and `revoke`. */
export const PERSONAL_TOKEN_TASKS: Tasks = {
  names: ["create", "list", "revoke"],
  add(noun) {
    addList(noun);
    addCreate(noun);
    addRevoke(noun);
  },
};

function addCreate(noun: Command): void {
  addServerOptions(
    noun
      .command("create")
      .description("make a personal token, and print the line that logs docker in with it")
      .requiredOption("--name <name>", "what the token is for, such as laptop")
      .addOption(
        new Option(
          "--may <what>",
          "what it may do, of what you may: pull and install, push and publish too, read all, or all",
        )
          .choices(PERMISSION_WORDS)
          .default("pull"),
      )
      .addOption(
        completes(
          repeatable("--group <group>", "only in this group and those below it: acme/team, or a uid (repeatable)"),
          "group",
        ),
      )
      .option("--ttl <duration>", "how long it is good, such as 12h or 30d; at most 365d", "90d")
      .option("--json", "print registry, uid, token and end as JSON instead"),
  ).action(async (flags: CreateFlags) => {
    const { createPersonalToken } = await import("./personal-token-work.ts");
    await createPersonalToken(flags);
  });
}

function addList(noun: Command): void {
  const command = noun
    .command("list")
    .alias("ls")
    .description("show your personal tokens, or the ones of other people that you may see; expired ones included")
    .addOption(completes(new Option("--identity <identity>", "those of this person"), "identity"))
    .addOption(
      completes(
        new Option("--group <group>", "those of the people of this group's providers: acme, or a uid"),
        "group",
      ),
    )
    .option("--all", "those of all people whose tokens you may see");
  addListOptions(addServerOptions(addOutputOptions(command))).action(async (flags: ListTokensFlags) => {
    const { listPersonalTokens } = await import("./personal-token-work.ts");
    await listPersonalTokens(flags);
  });
}

function addRevoke(noun: Command): void {
  addServerOptions(
    noun
      .command("revoke")
      .description("revoke personal tokens immediately")
      .addArgument(new Argument("<token...>", "a uid; of your own ones also the name, or the last four characters")),
  ).action(async (tokens: string[], flags: TaskFlags) => {
    const { revokePersonalTokens } = await import("./personal-token-work.ts");
    await revokePersonalTokens(tokens, flags);
  });
}
