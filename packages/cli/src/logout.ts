// `moorage logout`: ends a sign-in, on the server and on this machine.
import type { Command } from "commander";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { changeLogins, notSignedIn } from "./credentials.ts";
import { trustStored } from "./http/trust.ts";
import { formRequest } from "./oauth.ts";
import { signedInTo } from "./sign-ins.ts";

/** Adds `moorage logout`. */
export function addLogout(program: Command): void {
  addServerOptions(
    program.command("logout").description("end a sign-in: its tokens are revoked at the server and removed here"),
    ["context", "url", "debug"],
  ).action(async (flags: ServerFlags) => {
    const server = signedInTo(flags);
    let revoked = true;
    await changeLogins(async ({ [server]: login, ...others }) => {
      if (login === undefined) throw notSignedIn(server);
      // The tokens are removed from this machine in any case: that is the purpose of signing out.
      try {
        await trustStored(`the sign-in to ${server}`, login.caFile);
        await formRequest(`${server}/oauth/revoke`, {
          token: login.refreshToken,
          token_type_hint: "refresh_token",
        });
      } catch {
        revoked = false;
      }
      return others;
    });
    if (!revoked)
      throw new Error(
        `the tokens are removed here, but ${server} could not revoke them: they expire there after 30 days`,
      );
    console.log(`Signed out of ${server}`);
  });
}
