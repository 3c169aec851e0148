// What the commands for package managers have in common: which server and group, and a token for them.
import type { Command } from "commander";
import { UsageFailure } from "../command/failure.ts";
import { addServerOptions, type ServerFlags } from "../command/global-options.ts";
import { completes } from "../command/completion-sources.ts";
import { accessTokenFor, readLogins } from "../credentials.ts";
import { tradeToken } from "../oauth.ts";
import { signedInTo } from "../sign-ins.ts";
import { addFileOptions, type FileFlags } from "./options.ts";

/** The flags of such a command. */
export type PackageFlags = FileFlags & Pick<ServerFlags, "context" | "url">;

// What is stored is used for some time.
const SPARE_MS = 1_800_000;

/** Adds a command with the argument and the flags that all of them have. */
export function addPackageCommand(auth: Command, name: string, summary: string, manager: string): Command {
  const command = auth
    .command(name)
    .description(summary)
    .argument("<group>", "whose packages, such as acme or acme/team");
  completes(command.registeredArguments.at(-1), "group");
  addFileOptions(command, `the file to change (default: ${manager}'s own for you)`);
  return addServerOptions(command, ["context", "url"]);
}

/** The address of a group's packages, with a slash at the end. Throws a UsageFailure for a group whose name is none. */
export function addressOf(ecosystem: "npm" | "pypi", group: string, flags: ServerFlags): URL {
  if (!/^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$/.test(group))
    throw new UsageFailure(`must look like acme or acme/team, not ${group}`, { field: "GROUP" });
  return new URL(`/${ecosystem}/${group}/`, signedInTo(flags));
}

/** A token of the sign-in for packages and images, good for half an hour or more, as far as the server's tokens are. */
export async function packageToken(url: string): Promise<string> {
  const token = await accessTokenFor(url, SPARE_MS);
  return tradeToken(`${url}/sts/token`, token, readLogins()[url]?.registry ?? new URL(url).host);
}
