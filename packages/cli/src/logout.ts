// `moorage logout`: ends a sign-in, at the server and here.
import type { Command } from "commander";
import { changeLogins, notSignedIn } from "./credentials.ts";
import { formRequest } from "./oauth.ts";
import { signedInTo } from "./sign-ins.ts";

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
