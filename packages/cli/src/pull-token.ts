// `moorage pull-token`: passwords for machines that pull, each with its own identity.
import type { Command } from "commander";
import { addServerOptions, type ServerFlags } from "./caller.ts";
import type { CreateFlags } from "./pull-tokens.ts";

/** Adds `moorage pull-token` with `create`, `list` and `revoke`. */
export function addPullToken(program: Command): void {
  const parent = program
    .command("pull-token")
    .description("passwords for machines that pull: make, list and revoke them");
  const command = (name: string, description: string): Command =>
    addServerOptions(parent.command(name).description(description));
  command("create", "make a pull token, and print the line that logs docker in with it")
    .requiredOption("--group <uid>", "the group whose images it pulls, and those of the groups below it")
    .requiredOption("--name <name>", "what the token is for, such as ci or cluster-1")
    .option("--role <name>", "the built-in role it has on the group", "registry.pull")
    .option("--ttl <duration>", "how long it is good, such as 12h or 30d; at most 366d", "30d")
    .option("--json", "print registry, user name, password and end as JSON instead")
    .action(async (flags: CreateFlags) => (await import("./pull-tokens.ts")).createToken(flags));
  command("list", "list the pull tokens there are")
    .option("--group <uid>", "only those of this group and of the groups below it", "")
    .action(async (flags: ServerFlags & { group: string }) => (await import("./pull-tokens.ts")).listTokens(flags));
  command("revoke", "revoke a pull token immediately")
    .argument("<uid>", "its identity, which is the user name")
    .action(async (uid: string, flags: ServerFlags) => (await import("./pull-tokens.ts")).revokeToken(uid, flags));
}
