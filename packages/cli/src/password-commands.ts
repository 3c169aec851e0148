// `moorage pull-token` and `moorage push-token`: passwords for machines, each with its own identity.
import type { Command } from "commander";
import { addOutputOptions, type OutputFlags } from "./output/output.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import type { CreateFlags, Kind } from "./registry-passwords.ts";

/** Adds `moorage pull-token` with `create`, `list` and `revoke`. */
export function addPullToken(program: Command): void {
  const parent = program
    .command("pull-token")
    .description("passwords for machines that pull: make, list and revoke them");
  addServerOptions(
    parent
      .command("create")
      .description("make a pull token, and print the line that logs docker in with it")
      .requiredOption("--group <group>", "whose images it pulls, and those of the groups below it: acme/team, or a uid")
      .requiredOption("--name <name>", "what the token is for, such as ci or cluster-1")
      .option("--role <name>", "the built-in role it has on the group", "registry.pull")
      .option("--ttl <duration>", "how long it is good, such as 12h or 30d; at most 366d", "30d")
      .option("--json", "print registry, user name, password and end as JSON instead"),
  ).action(async (flags: CreateFlags) => {
    const { createToken, PULL_TOKEN } = await import("./registry-passwords.ts");
    await createToken(PULL_TOKEN, flags);
  });
  addListAndRevoke(parent, "pull token", async () => (await import("./registry-passwords.ts")).PULL_TOKEN);
}

/** Adds `moorage push-token` with `create`, `list` and `revoke`. */
export function addPushToken(program: Command): void {
  const parent = program
    .command("push-token")
    .description("passwords for machines that push and cannot use OpenID Connect: make, list and revoke them");
  addServerOptions(
    parent
      .command("create")
      .description("make a push token, and print the line that logs docker in with it")
      .option("--repo <repo>", "the one image it pushes, which is there already: acme/app, or a uid")
      .option("--group <group>", "or whose images it pushes, new ones and those of groups below included: acme/team")
      .requiredOption("--name <name>", "what the token is for, such as build-server-1")
      .option("--ttl <duration>", "how long it is good, such as 12h or 30d; at most 90d", "7d")
      .option("--json", "print registry, user name, password and end as JSON instead"),
  ).action(async (flags: Omit<CreateFlags, "role">) => {
    const { createToken, PUSH_TOKEN } = await import("./registry-passwords.ts");
    await createToken(PUSH_TOKEN, { ...flags, role: "registry.push" });
  });
  addListAndRevoke(parent, "push token", async () => (await import("./registry-passwords.ts")).PUSH_TOKEN);
}

function addListAndRevoke(parent: Command, noun: string, kind: () => Promise<Kind>): void {
  const list = parent
    .command("list")
    .description(`list the ${noun}s there are`)
    .option("--group <group>", "only those of this group and of the groups below it: acme/team, or a uid", "");
  addServerOptions(addOutputOptions(list)).action(async (flags: ServerFlags & OutputFlags & { group: string }) =>
    (await import("./registry-passwords.ts")).listTokens(await kind(), flags),
  );
  addServerOptions(
    parent
      .command("revoke")
      .description(`revoke a ${noun} immediately`)
      .argument("<uid>", "its identity, which is the user name"),
  ).action(async (uid: string, flags: ServerFlags) =>
    (await import("./registry-passwords.ts")).revokeToken(await kind(), uid, flags),
  );
}
