// `moorage login`: a person signs in to a server through the OpenID provider of an organization.
import type { Command } from "commander";
import { changeLogins, credentialsFile, readLogins } from "./credentials.ts";
import { endpointsOf } from "./oauth.ts";
import { serverUrl } from "./sign-ins.ts";

interface LoginFlags {
  url: string;
  identityProvider?: string;
  device?: true;
  open?: true;
}

const BROWSER_TIMEOUT_MS = 300_000;
const DEVICE_TIMEOUT_MS = 600_000;

/** Adds `moorage login`. */
export function addLogin(program: Command): void {
  program
    .command("login")
    .description("sign in to a server through your organization's OpenID provider")
    .requiredOption("--url <url>", "URL of the server")
    .option(
      "--identity-provider <uid>",
      "the identity provider's uid, from its administrators (default: that of the last sign-in to the server)",
    )
    .option("--device", "sign in with a browser elsewhere: this machine has none")
    .option("--open", "open the browser; otherwise the address is printed alone")
    .action(async ({ url, identityProvider: named, device, open }: LoginFlags) => {
      const server = serverUrl(url);
      const identityProvider = named ?? readLogins()[server]?.identityProvider;
      if (identityProvider === undefined)
        throw new Error("--identity-provider: is required for the first sign-in to a server");
      const endpoints = await endpointsOf(server);
      const tokens =
        device === true
          ? await (
              await import("./device.ts")
            ).signInByDevice(
              endpoints,
              identityProvider,
              (page, code) => console.log(`Open ${page} in a browser anywhere, and type the code ${code}`),
              DEVICE_TIMEOUT_MS,
            )
          : await (
              await import("./loopback.ts")
            ).signInByLoopback(
              endpoints,
              identityProvider,
              (page) => {
                console.log(`Open this address in a browser on this machine:\n${page}`);
                if (open === true) void openBrowser(page);
              },
              BROWSER_TIMEOUT_MS,
            );
      await changeLogins(async (logins) => ({ ...logins, [server]: { ...tokens, identityProvider } }));
      console.log(`Signed in to ${server}; the tokens are in ${credentialsFile()}`);
    });
}

async function openBrowser(url: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  // Without a browser, the address is still printed in the terminal.
  spawn(program, [url], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
