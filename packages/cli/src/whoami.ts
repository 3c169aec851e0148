// `moorage whoami`: the identity that commands use on a server.
import type { Command } from "commander";
import { claimsOf } from "./claims.ts";
import { accessTokenFor, type Login, notSignedIn, readLogins } from "./credentials.ts";
import { plain } from "./printable.ts";
import { namedServer, signedInTo } from "./sign-ins.ts";

/** Adds `moorage whoami`. */
export function addWhoami(program: Command): void {
  program
    .command("whoami")
    .description("show the identity that you are signed in as")
    .option("--url <url>", "URL of the server (MOORAGE_URL; default: the only one that you are signed in to)")
    .option("--token <token>", "access token to show instead (MOORAGE_TOKEN)")
    .action(async ({ url, token = process.env["MOORAGE_TOKEN"] }: { url?: string; token?: string }) => {
      const { server, bearer, login } = token ? given(token, url) : await signedIn(url);
      const claims = claimsOf(bearer);
      const lines: [string, string][] = [
        ["server", server],
        ["identity", String(claims["sub"])],
      ];
      if (login?.identityProvider) lines.push(["identity provider", login.identityProvider]);
      const { act, groups, groups_exp: groupsEnd } = claims;
      if (isRecord(act) && typeof act["email"] === "string") lines.push(["e-mail at the provider", act["email"]]);
      if (Array.isArray(groups))
        lines.push(["groups at the provider", `${groups.join(", ")} (their roles end at ${timeOf(groupsEnd)})`]);
      lines.push(["token ends", `${timeOf(claims["exp"])}${login ? "; it is replaced when it is needed" : ""}`]);
      for (const [name, value] of lines) console.log(`${name}: ${plain(value)}`);
    });
}

interface Shown {
  server: string;
  bearer: string;
  /** Undefined for a token that was given. */
  login?: Login | undefined;
}

async function signedIn(url: string | undefined): Promise<Shown> {
  const server = signedInTo(url);
  if (readLogins()[server] === undefined) throw notSignedIn(server);
  const bearer = await accessTokenFor(server);
  return { server, bearer, login: readLogins()[server] };
}

/** The server is the one named, or else the one that the token says it is of. */
function given(bearer: string, url: string | undefined): Shown {
  return { server: namedServer(url) ?? String(claimsOf(bearer)["iss"]), bearer };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function timeOf(seconds: unknown): string {
  return new Date(Number(seconds) * 1000).toISOString();
}
