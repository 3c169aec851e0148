// The credential helper protocol of docker, which podman, buildah, skopeo, crane and others speak, too: one word on the
// command line, the question on standard input, the answer on standard output. A failure is exit code 1 with its
// message on standard OUTPUT, where clients look for it. Source: docker/docker-credential-helpers,
// credentials/credentials.go.
import { idToken, type JobEnvironment } from "./id-token.ts";

/** What the helper prints and how it ends. `note` goes to standard error. */
export interface Answer {
  readonly code: 0 | 1;
  readonly output: string;
  readonly note?: string;
}

/** Clients take this very text for "there is none", and go on without credentials. */
const NOT_FOUND = "credentials not found in native keychain";
const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;

/**
 * Answers `get`, `store`, `erase`, `list` and `version`. It has credentials for the registries in MOORAGE_REGISTRY_HOST
 * alone, so that a token of the job goes nowhere else: the user name is MOORAGE_IDENTITY, the secret is the job's own
 * OIDC token for MOORAGE_AUDIENCE, asked for when it is needed. Nothing is ever stored.
 */
export async function answer(action: string, input: string, env: JobEnvironment, version: string): Promise<Answer> {
  switch (action) {
    case "get":
      return get(input.trim(), env);
    case "store":
      return store(input, env);
    // There is nothing to erase: a log-out succeeds.
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
  // Not "not found": the client would go on as nobody, and the refusal that comes then would hide the reason.
  if (!UID.test(identity)) return failure(`MOORAGE_IDENTITY must be the uid of the identity to become at ${host}`);
  try {
    const secret = await idToken(env, env["MOORAGE_AUDIENCE"] || `https://${host}`);
    return { code: 0, output: JSON.stringify({ ServerURL: server, Username: identity, Secret: secret }) };
  } catch (error) {
    return failure(error instanceof Error ? error.message : "there is no ID token");
  }
}

/**
 * `docker login` stores what it logged in with: it may go on, since `get` has something better. For other registries a
 * password would be lost.
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

/** host[:port] of what clients send: a host, or a URL with or without a path. */
function hostOf(server: string): string {
  return server
    .replace(/^https?:\/\//i, "")
    .replace(/\/.*$/s, "")
    .toLowerCase();
}
