// The credential helper protocol of docker, which podman, buildah, skopeo, crane and others use as well: one word on
// the command line, input on standard input, output on standard output. A failure is exit code 1 with its message on
// standard OUTPUT, where clients read it. Source: docker/docker-credential-helpers, credentials/credentials.go.
import { idToken, type JobEnvironment } from "./id-token.ts";

/** The output and the exit code of the helper. `note` goes to standard error. */
export interface Answer {
  readonly code: 0 | 1;
  readonly output: string;
  readonly note?: string;
}

/** Clients recognize exactly this text as "no credentials", and continue without any. */
const NOT_FOUND = "credentials not found in native keychain";
const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/**
 * Answers `get`, `store`, `erase`, `list` and `version`. It returns credentials only for the registries in
 * MOORAGE_REGISTRY_HOST, so that a job's token is sent nowhere else: the user name is MOORAGE_IDENTITY, the secret is
 * the job's own OIDC token for MOORAGE_AUDIENCE, requested when needed. Nothing is stored.
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
      return {
        code: 0,
        output: JSON.stringify(Object.fromEntries(hostsOf(env).map((host) => [host, env["MOORAGE_IDENTITY"] ?? ""]))),
      };
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
  if (!hostsOf(env).includes(host)) return failure(NOT_FOUND);
  const identity = env["MOORAGE_IDENTITY"] ?? "";
  // Not "not found": the client would continue without credentials, and the rejection that follows would hide the
  // reason.
  if (!UID.test(identity)) return failure(`MOORAGE_IDENTITY must be the uid of the identity to become at ${host}`);
  try {
    const secret = await idToken(env, env["MOORAGE_AUDIENCE"] || `https://${host}`);
    return { code: 0, output: JSON.stringify({ ServerURL: server, Username: identity, Secret: secret }) };
  } catch (error) {
    return failure(error instanceof Error ? error.message : "there is no ID token");
  }
}

/**
 * `docker login` stores the credentials that it logged in with. For a configured registry this succeeds without effect,
 * since `get` provides a token. For other registries it fails, since the password would be lost.
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
  if (!hostsOf(env).includes(host))
    return failure(`docker-credential-moorage stores nothing, and has no credentials of its own for ${host}`);
  return { code: 0, output: "", note: "docker-credential-moorage: nothing is stored; the job's own token is used" };
}

function failure(output: string): Answer {
  return { code: 1, output };
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
