// The credential helper protocol of docker, which podman, buildah, skopeo, crane and others use as well: one word on
// the command line, input on standard input, output on standard output. A failure is exit code 1 with its message on
// standard OUTPUT, where clients read it. Source: docker/docker-credential-helpers, credentials/credentials.go.
import { claimsOf } from "../claims.ts";
import { lineOf } from "../command/failure.ts";
import { accessTokenFor, credentialsFile, loginOfRegistry, type Logins, readLogins } from "../credentials.ts";
import { trustFromEnvironment } from "../http/trust.ts";
import { idToken, type JobEnvironment } from "./id-token.ts";

/** The output and the exit code of the helper. `note` goes to standard error. */
export interface Answer {
  readonly code: 0 | 1;
  readonly output: string;
  readonly note?: string;
}

/** Clients recognize exactly this text as "no credentials", and continue without any. */
const NOT_FOUND = "credentials not found in native keychain";
// A client that pulls or pushes for minutes logs in once.
const SPARE_MS = 300_000;
const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/**
 * Answers `get`, `store`, `erase`, `list` and `version`. It returns credentials for two kinds of registries alone, so
 * that a token is sent nowhere else. For those in MOORAGE_REGISTRY_HOST the user name is MOORAGE_IDENTITY, the secret
 * is the job's own OIDC token for MOORAGE_AUDIENCE, requested when needed. For those of a server that `moorage login`
 * signed in to, they are the person's identity and access token, refreshed when needed. Clients can store nothing.
 */
export async function answer(action: string, input: string, env: JobEnvironment, version: string): Promise<Answer> {
  switch (action) {
    case "get":
      return get(input.trim(), env);
    case "store":
      return store(input, env);
    // Nothing is stored, so `erase` succeeds without effect.
    case "erase":
      return { code: 0, output: "" };
    case "list":
      return { code: 0, output: JSON.stringify({ ...signedIn(loginsOf(env)), ...configured(env) }) };
    case "version":
    case "--version":
      return { code: 0, output: `docker-credential-moorage (moorage) v${version}` };
    default:
      return failure("usage: docker-credential-moorage <get|store|erase|list|version>");
  }
}

async function get(server: string, env: JobEnvironment): Promise<Answer> {
  if (server === "") return failure("no credentials server URL");
  const host = hostOf(server);
  if (!hostsOf(env).includes(host)) return getSignedIn(server, host, env);
  const identity = env["MOORAGE_IDENTITY"] ?? "";
  // Not "not found": the client would continue without credentials, and the rejection that follows would hide the
  // reason.
  if (!UID.test(identity))
    return noCredentials(`MOORAGE_IDENTITY must be the uid of the identity to become at ${host}`);
  try {
    const secret = await idToken(env, env["MOORAGE_AUDIENCE"] || `https://${host}`);
    return { code: 0, output: JSON.stringify({ ServerURL: server, Username: identity, Secret: secret }) };
  } catch (error) {
    return noCredentials(lineOf(error));
  }
}

/** The credentials of the person who is signed in to the registry's server. */
async function getSignedIn(server: string, host: string, env: JobEnvironment): Promise<Answer> {
  const login = loginOfRegistry(host, loginsOf(env));
  if (login === undefined) return failure(NOT_FOUND);
  try {
    await trustFromEnvironment(env);
    const secret = await accessTokenFor(login.url, SPARE_MS, credentialsFile(env));
    return { code: 0, output: JSON.stringify({ ServerURL: server, Username: userOf(secret), Secret: secret }) };
  } catch (error) {
    return noCredentials(lineOf(error));
  }
}

/**
 * `docker login` stores the credentials that it logged in with. For a registry that `get` has credentials for this
 * succeeds without effect. For other registries it fails, since the password would be lost.
 */
function store(input: string, env: JobEnvironment): Answer {
  let server: unknown;
  try {
    ({ ServerURL: server } = JSON.parse(input) as { ServerURL?: unknown });
  } catch {
    return failure("the credentials to store are no JSON");
  }
  if (typeof server !== "string" || server === "") return failure("no credentials server URL");
  const host = hostOf(server);
  const isConfigured = hostsOf(env).includes(host);
  if (!isConfigured && loginOfRegistry(host, loginsOf(env)) === undefined)
    return failure(
      `docker-credential-moorage stores nothing, and has no credentials of its own for ${host}: sign in with moorage login`,
    );
  const used = isConfigured ? "the job's own token" : "the sign-in of moorage login";
  return { code: 0, output: "", note: `docker-credential-moorage: nothing is stored; ${used} is used` };
}

function failure(output: string): Answer {
  return { code: 1, output };
}

/**
 * Why `get` has none. Docker reads that and goes on without credentials: what people see of it is standard error, which
 * docker leaves to them.
 */
function noCredentials(why: string): Answer {
  return { ...failure(why), note: `docker-credential-moorage: ${why}` };
}

function loginsOf(env: JobEnvironment): Logins {
  return readLogins(credentialsFile(env));
}

/** The user name of a person's token: the identity's uid. */
function userOf(token: string): string {
  return String(claimsOf(token)["sub"]);
}

/** The user names by registry: of the sign-ins, and of the job. */
function signedIn(logins: Logins): Record<string, string> {
  return Object.fromEntries(
    Object.entries(logins).map(([url, { registry, accessToken }]) => [
      registry ?? new URL(url).host,
      userOf(accessToken),
    ]),
  );
}

function configured(env: JobEnvironment): Record<string, string> {
  return Object.fromEntries(hostsOf(env).map((host) => [host, env["MOORAGE_IDENTITY"] ?? ""]));
}

function hostsOf(env: JobEnvironment): string[] {
  return (env["MOORAGE_REGISTRY_HOST"] ?? "")
    .split(",")
    .map((text) => hostOf(text.trim()))
    .filter((host) => host !== "");
}

/** The host[:port] in a client's input: a host, or a URL with or without a path. */
function hostOf(server: string): string {
  return server
    .replace(/^https?:\/\//i, "")
    .replace(/\/.*$/s, "")
    .toLowerCase();
}
