// `moorage whoami`: the identity that commands use on a server.
import type { Command } from "commander";
import { accessTokenFor, notSignedIn, readLogins } from "./credentials.ts";
import { plain } from "./printable.ts";
import { signedInTo } from "./sign-ins.ts";

/** Adds `moorage whoami`. */
export function addWhoami(program: Command): void {
  program
    .command("whoami")
    .description("show the identity that you are signed in as")
    .option("--url <url>", "URL of the server (default: the only one that you are signed in to)")
    .action(async ({ url }: { url?: string }) => {
      const server = signedInTo(url);
      if (readLogins()[server] === undefined) throw notSignedIn(server);
      const claims = claimsOf(await accessTokenFor(server));
      const lines: [string, string][] = [
        ["server", server],
        ["identity", String(claims["sub"])],
        ["identity provider", readLogins()[server]?.identityProvider ?? ""],
      ];
      const { act, groups, groups_exp: groupsEnd } = claims;
      if (isRecord(act) && typeof act["email"] === "string") lines.push(["e-mail at the provider", act["email"]]);
      if (Array.isArray(groups))
        lines.push(["groups at the provider", `${groups.join(", ")} (their roles end at ${timeOf(groupsEnd)})`]);
      lines.push(["token ends", `${timeOf(claims["exp"])}; it is replaced when it is needed`]);
      for (const [name, value] of lines) console.log(`${name}: ${plain(value)}`);
    });
}

/** The claims of a Moorage token, without verification: only the server verifies it. */
function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as Record<string, unknown>;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function timeOf(seconds: unknown): string {
  return new Date(Number(seconds) * 1000).toISOString();
}
