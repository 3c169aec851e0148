// `moorage login`: a person signs in to a server through the OpenID provider of an organization.
import type { Command } from "commander";
import { UsageFailure } from "./command/failure.ts";
import { addServerOptions, type ServerFlags } from "./command/global-options.ts";
import { rememberServer } from "./config/contexts.ts";
import { changeLogins, credentialsFile, readLogins } from "./credentials.ts";
import { namedAuthorities, trustStored } from "./http/trust.ts";
import { type Endpoints, endpointsOf, type Tokens } from "./oauth.ts";
import { isInteractive, question } from "./terminal/question.ts";
import { serverUrl } from "./server-url.ts";
import { namedBy, namedServer } from "./sign-ins.ts";

interface LoginFlags extends ServerFlags {
  organization?: string;
  identityProvider?: string;
  device?: true;
  open?: true;
}

const BROWSER_TIMEOUT_MS = 300_000;
const DEVICE_TIMEOUT_MS = 600_000;

/** Adds `moorage login`. */
export function addLogin(program: Command): void {
  addServerOptions(
    program.command("login").description("sign in to a server through your organization's OpenID provider"),
    ["context", "url", "debug"],
  )
    .option("--organization <name>", "whose providers to choose from, such as acme, or acme/team for a group's own")
    .option(
      "--identity-provider <name>",
      "the provider, by its name in the organization or by its uid (default: that of the last sign-in, or you are asked)",
    )
    .option("--device", "sign in with a browser elsewhere: this machine has none")
    .option("--open", "open the browser; otherwise the address is printed alone")
    .action(async (flags: LoginFlags) => {
      const server = await serverOf(flags);
      warnOfPlainHttp(server);
      const before = readLogins()[server];
      const { context } = namedBy({ ...flags, url: server });
      const caFile = namedAuthorities(flags) ?? context?.caFile ?? before?.caFile;
      await trustStored(`what is stored of ${server}`, caFile);
      const endpoints = await endpointsOf(server);
      const { chooseProvider } = await import("./providers.ts");
      const identityProvider = await chooseProvider(server, flags, before?.identityProvider);
      const tokens = await signIn(endpoints, identityProvider, flags);
      const { registryHost } = await import("./registry-host.ts");
      // Where the registry does not answer under the server's own address, it is taken to have the same host.
      const registry = await registryHost(server).catch(() => new URL(server).host);
      await changeLogins(async (logins) => ({
        ...logins,
        [server]: { ...tokens, identityProvider, registry, ...(caFile !== undefined && { caFile }) },
      }));
      rememberServer(server);
      console.log(`Signed in to ${server}; the tokens are in ${credentialsFile()}`);
    });
}

/** The server that was named, the only one there is a sign-in to, or the one that the person types. */
async function serverOf(flags: ServerFlags): Promise<string> {
  const named = namedServer(flags);
  if (named !== undefined) return named;
  const [only, second] = Object.keys(readLogins());
  if (only !== undefined && second === undefined) return only;
  if (!isInteractive())
    throw new UsageFailure("is required, or MOORAGE_URL: which server to sign in to", { field: "--url" });
  return serverUrl(await question("URL of the server: "));
}

async function signIn(endpoints: Endpoints, identityProvider: string, { device, open }: LoginFlags): Promise<Tokens> {
  if (device === true) {
    const { signInByDevice } = await import("./device.ts");
    const show = (page: string, code: string): void =>
      console.log(`Open ${page} in a browser anywhere, and type the code ${code}`);
    return signInByDevice(endpoints, identityProvider, show, DEVICE_TIMEOUT_MS);
  }
  const { signInByLoopback } = await import("./loopback.ts");
  const show = (page: string): void => {
    console.log(`Open this address in a browser on this machine:\n${page}`);
    if (open === true) void openBrowser(page);
  };
  return signInByLoopback(endpoints, identityProvider, show, BROWSER_TIMEOUT_MS);
}

function warnOfPlainHttp(server: string): void {
  const { protocol, hostname } = new URL(server);
  const isHere = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol === "http:" && !isHere)
    console.error(
      "moorage: warning: plain http is not encrypted: anyone on the network path can take over your sign-in",
    );
}

async function openBrowser(url: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  // Without a browser, the address is still printed in the terminal.
  spawn(program, [url], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
