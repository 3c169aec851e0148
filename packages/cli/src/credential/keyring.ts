// The part of the `keyring` command that pip and uv use: `keyring get SERVICE USER` prints the password of a user at a
// service, which is a URL. Sources: pip, "Authentication: keyring support"; uv, "Authentication"; the command line of
// the Python package keyring.
import { parseArgs } from "node:util";
import { lineOf } from "../command/failure.ts";
import { accessTokenFor, credentialsFile, type Logins, readLogins } from "../credentials.ts";
import { tradeToken } from "../oauth.ts";
import { trustFromEnvironment } from "../http/trust.ts";
import { exchange } from "./exchange.ts";
import { idToken, type JobEnvironment } from "./id-token.ts";

/** The user in the addresses of package indexes; the server takes any. */
export const INDEX_USER = "__token__";

/** What to print and how to end. Undefined: the request is not for a server of Moorage. */
export interface KeyringAnswer {
  readonly code: 0 | 1;
  readonly output: string;
  readonly note?: string;
}

// An installation with many packages takes minutes.
const SPARE_MS = 300_000;
const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/**
 * Answers `get`, `set` and `del` for URLs of a server that `moorage login` signed in to, and of the registries in
 * MOORAGE_REGISTRY_HOST, for which a CI job's own token is traded. Undefined for all else: the scheme, the host and the
 * port must be those of the server, so that a token goes nowhere else. A host without a scheme is never answered.
 */
export async function answerKeyring(args: readonly string[], env: JobEnvironment): Promise<KeyringAnswer | undefined> {
  const asked = parsed(args);
  if (asked === undefined) return undefined;
  const place = placeOf(asked.service, env);
  if (place === undefined) return undefined;
  if (asked.action === "set") return { code: 0, output: "", note: "nothing is stored: the token is made when needed" };
  if (asked.action === "del") return { code: 0, output: "" };
  try {
    await trustFromEnvironment(env);
    const token = await place.token();
    const user = asked.user ?? INDEX_USER;
    return { code: 0, output: printed(asked, user, token) };
  } catch (error) {
    return { code: 1, output: "", note: lineOf(error) };
  }
}

interface Asked {
  action: string;
  service: string;
  user: string | undefined;
  mode: string;
  form: string;
}

function parsed(args: readonly string[]): Asked | undefined {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { mode: { type: "string" }, output: { type: "string" } },
    });
    const [action = "", service, user] = positionals;
    if (service === undefined || !["get", "set", "del"].includes(action)) return undefined;
    return { action, service, user, mode: values.mode ?? "password", form: values.output ?? "plain" };
  } catch {
    return undefined; // Options of keyring that are unknown here.
  }
}

function printed({ mode, form }: Asked, username: string, password: string): string {
  const withUser = mode === "creds";
  if (form === "json") return JSON.stringify(withUser ? { username, password } : { password });
  return withUser ? `${username}\n${password}` : password;
}

/** A server that the service belongs to, and how to get a token for its registry. */
function placeOf(service: string, env: JobEnvironment): { token(): Promise<string> } | undefined {
  const url = URL.parse(service);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const job = jobServer(url, env);
  if (job !== undefined) return { token: () => jobToken(job, url.host, env) };
  const file = credentialsFile(env);
  const login = loginOf(url, readLogins(file));
  if (login === undefined) return undefined;
  return {
    token: async () =>
      tradeToken(`${login.url}/sts/token`, await accessTokenFor(login.url, SPARE_MS, file), login.registry),
  };
}

function loginOf(url: URL, logins: Logins): { url: string; registry: string } | undefined {
  for (const [server, { registry }] of Object.entries(logins)) {
    const { origin, protocol, host } = new URL(server);
    const ofRegistry = registry ?? host;
    if (url.origin === origin || (url.protocol === protocol && url.host === ofRegistry))
      return { url: server, registry: ofRegistry };
  }
  return undefined;
}

/** The server of the job's registry: MOORAGE_URL, or https and the registry's host. */
function jobServer(url: URL, env: JobEnvironment): string | undefined {
  const hosts = (env["MOORAGE_REGISTRY_HOST"] ?? "").split(",").map((text) => text.trim().toLowerCase());
  if (!hosts.includes(url.host)) return undefined;
  const server = URL.parse(env["MOORAGE_URL"] || `https://${url.host}`);
  return server?.protocol === url.protocol ? server.origin : undefined;
}

async function jobToken(server: string, registry: string, env: JobEnvironment): Promise<string> {
  const identity = env["MOORAGE_IDENTITY"] ?? "";
  if (!UID.test(identity)) throw new Error(`MOORAGE_IDENTITY must be the uid of the identity to become at ${registry}`);
  const token = await idToken(env, env["MOORAGE_AUDIENCE"] || `https://${registry}`);
  return (await exchange({ url: server, token, identity, audience: registry })).token;
}
