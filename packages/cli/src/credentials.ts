// The tokens that `moorage login` stores: by server, in a file that only its owner can read.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { EXIT } from "./command/exit-codes.ts";
import { Failure } from "./command/failure.ts";
import { configFolder } from "./config/paths.ts";
import { trustStored } from "./http/trust.ts";
import { locked } from "./lock.ts";
import { tokenRequest, type Tokens } from "./oauth.ts";

/** A sign-in to one server. */
export interface Login extends Tokens {
  /** The uid of the identity provider; empty when the person chose it in the browser. */
  identityProvider: string;
  /** The host[:port] in the names of the server's images; absent where an older version wrote the file. */
  registry?: string;
  /** The file with the certificate authorities that it was made with, PEM. */
  caFile?: string;
}

/** Sign-ins by the URL of the server. */
export type Logins = Record<string, Login>;

// A token with less time left than this could expire before the server checks it.
const SPARE_MS = 60_000;

/** The path of the file. Source: XDG Base Directory Specification. */
export function credentialsFile(env: NodeJS.ProcessEnv = process.env): string {
  return join(configFolder(env), "credentials.json");
}

/**
 * The sign-ins; empty when there is no file. Throws a Failure that names a file that cannot be read, that others can
 * read, or that is no such file.
 */
export function readLogins(file = credentialsFile()): Logins {
  let text: string;
  try {
    refuseOpenFile(file);
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new Failure(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
  const damaged = (cause?: unknown): Failure =>
    new Failure(`${file} is damaged: remove it and sign in again`, { exit: EXIT.notSignedIn, cause });
  let servers: unknown;
  try {
    servers = (JSON.parse(text) as { servers?: unknown } | null)?.servers;
  } catch (cause) {
    throw damaged(cause);
  }
  if (typeof servers !== "object" || servers === null) throw damaged();
  // `changeLogins` below writes this form.
  return servers as Logins;
}

/** Throws a Failure when others can read or change the file: what is in it would no longer be secret. */
function refuseOpenFile(file: string): void {
  // Windows has no such bits.
  if (process.platform === "win32" || (statSync(file).mode & 0o077) === 0) return;
  throw new Failure(`${file} can be read by others of this machine`, { hint: `chmod 600 ${file}` });
}

/** Reads, changes and writes the file while no other process does. The result of `change` is stored. */
export async function changeLogins(
  change: (logins: Logins) => Promise<Logins>,
  file = credentialsFile(),
): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  await locked(file, async () => {
    const servers = await change(readLogins(file));
    // Replaced in one step, and never readable by others, not even for a moment.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify({ servers }, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  });
}

/**
 * A token for the server that is good for `spareMs` more, by default a minute, as far as the server's tokens are. One
 * with less time left is refreshed first, by one process at a time, since a refresh token that is used twice ends the
 * sign-in. Throws an Error that says to sign in again.
 */
export async function accessTokenFor(url: string, spareMs = SPARE_MS, file = credentialsFile()): Promise<string> {
  const isGood = ({ expiresAtMs }: Login): boolean => expiresAtMs - spareMs > Date.now();
  const known = readLogins(file)[url];
  await trustStored(`the sign-in to ${url}`, known?.caFile);
  if (known !== undefined && isGood(known)) return known.accessToken;
  let token = "";
  await changeLogins(async (logins) => {
    const login = logins[url];
    if (login === undefined) throw notSignedIn(url);
    const fresh = isGood(login) ? login : { ...login, ...(await refreshed(url, login)) };
    token = fresh.accessToken;
    return { ...logins, [url]: fresh };
  }, file);
  return token;
}

/** The sign-in whose server has this registry, by its host[:port], with the server's URL. */
export function loginOfRegistry(host: string, logins = readLogins()): (Login & { url: string }) | undefined {
  const found = Object.entries(logins).find(([url, { registry }]) => (registry ?? new URL(url).host) === host);
  return found && { url: found[0], ...found[1] };
}

/** The error for commands that need a sign-in to the server. */
export function notSignedIn(url: string): Failure {
  return new Failure(`not signed in to ${url}: moorage login --url ${url}`, { exit: EXIT.notSignedIn });
}

async function refreshed(url: string, { refreshToken }: Login): Promise<Tokens> {
  const answer = await tokenRequest(`${url}/sts/token`, { grant_type: "refresh_token", refresh_token: refreshToken });
  if ("tokens" in answer) return answer.tokens;
  if (answer.error === "invalid_grant")
    throw new Failure(`the sign-in to ${url} has ended: moorage login --url ${url}`, { exit: EXIT.notSignedIn });
  throw new Error(`${url} gives no token: ${answer.description}`);
}
