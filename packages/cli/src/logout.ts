// `moorage logout`: ends a sign-in, at the server and here.
import type { Command } from "commander";
import { changeLogins, notSignedIn, readLogins } from "./credentials.ts";
import { serverUrl } from "./login.ts";
import { formRequest } from "./oauth.ts";

/** Adds `moorage logout`. */
export function addLogout(program: Command): void {
  program
    .command("logout")
    .description("end a sign-in: its tokens are given back to the server and removed here")
    .option("--url <url>", "URL of the server (default: the only one that you are signed in to)")
    .action(async ({ url }: { url?: string }) => {
      const server = signedInTo(url);
      let told = true;
      await changeLogins(async ({ [server]: login, ...others }) => {
        if (login === undefined) throw notSignedIn(server);
        // Gone here in any case: who signs out wants that.
        await formRequest(`${server}/oauth/revoke`, {
          token: login.refreshToken,
          token_type_hint: "refresh_token",
        }).catch(() => {
          told = false;
        });
        return others;
      });
      if (!told)
        throw new Error(
          `the tokens are removed here, but ${server} could not be told: they end there by themselves, after 30 days`,
        );
      console.log(`Signed out of ${server}`);
    });
}

/** The server of the flag, or the only one. Throws an Error when nobody can know which one is meant. */
export function signedInTo(url: string | undefined): string {
  if (url !== undefined) return serverUrl(url);
  const servers = Object.keys(readLogins());
  const [server] = servers;
  if (server === undefined) throw new Error("not signed in to any server: moorage login --url <url>");
  if (servers.length > 1) throw new Error(`--url: is required, since there are sign-ins to ${servers.join(", ")}`);
  return server;
}
