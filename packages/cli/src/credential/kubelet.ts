// The kubelet's credential provider protocol: a CredentialProviderRequest on standard input, the response on standard
// output, both JSON. Source: kubernetes.io, "Kubelet CredentialProvider (v1)"; KEP-2133 and KEP-4412.
import { parseArgs } from "node:util";
import { trustFromEnvironment } from "../http/trust.ts";
import { exchange, PULL_CAPABILITIES } from "./exchange.ts";
import { idToken, type JobEnvironment } from "./id-token.ts";

/** The version of the protocol. */
export const KUBELET_API_VERSION = "credentialprovider.kubelet.k8s.io/v1";
/** An annotation of a service account: the uid of the identity that its pods pull as. */
export const IDENTITY_ANNOTATION = "moorage.dev/identity";

/** What the configuration of the kubelet says of the registry, in the arguments of the plugin. */
export interface Served {
  /** The host[:port] in the names of the images. */
  registry: string;
  /** The URL of the server. */
  url: string;
  /** The uid of the identity to become, unless the service account names one. */
  identity?: string;
}

/** An answer, and words for the log of the kubelet. */
export interface KubeletAnswer {
  readonly output: string;
  readonly note?: string;
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/;
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const MAX_TOKEN_CHARS = 16_384;
// A pull that begins with a credential from the cache must not outlive it.
const SPARE_MS = 60_000;
const FILE_VARIABLE = "MOORAGE_ID_TOKEN_FILE";

/** Reads the plugin's arguments. Throws an Error that names a wrong one. */
export function servedBy(args: readonly string[]): Served {
  const { registry, url, identity } = parseArgs({
    args: [...args],
    options: { registry: { type: "string" }, url: { type: "string" }, identity: { type: "string" } },
  }).values;
  if (registry === undefined || !/^[\w.:[\]-]+$/.test(registry))
    throw new Error("--registry: is required: the host[:port] in the names of the images");
  const server = URL.parse(url ?? `https://${registry}`);
  if (!server || !/^https?:$/.test(server.protocol)) throw new Error("--url: must be an http or https URL");
  if (identity !== undefined && !UID.test(identity)) throw new Error("--identity: must be the uid of an identity");
  return { registry: registry.toLowerCase(), url: server.origin, ...(identity !== undefined && { identity }) };
}

/**
 * Answers one request. The token of the pod's service account, or else the one in the file that MOORAGE_ID_TOKEN_FILE
 * names, is traded for a token that can pull and nothing else; the kubelet keeps it while it is good. Images of other
 * registries get no credentials, and no token is sent for them. Throws an Error for a request that is none, and when
 * the server gives no token.
 */
export async function answerKubelet(input: string, served: Served, env: JobEnvironment): Promise<KubeletAnswer> {
  const request = parsed(input);
  const host = request.image.split("/", 1)[0]?.toLowerCase();
  if (host !== served.registry || !request.image.includes("/"))
    return { output: response(null, 0), note: `${served.registry} is served here, not ${JSON.stringify(host)}` };
  const token = request.token ?? (env[FILE_VARIABLE] ? await idToken(fileOnly(env), served.url) : undefined);
  if (token === undefined)
    return {
      output: response(null, 0),
      note: `the request holds no serviceAccountToken, and ${FILE_VARIABLE} is not set: no credentials`,
    };
  const identity = request.identity ?? served.identity;
  await trustFromEnvironment(env);
  const traded = await exchange({
    url: served.url,
    token,
    ...(identity !== undefined && { identity }),
    audience: served.registry,
    capabilities: PULL_CAPABILITIES,
  });
  const auth = { [served.registry]: { username: identity ?? "moorage", password: traded.token } };
  return { output: response(auth, traded.expiresAtMs - Date.now() - SPARE_MS) };
}

interface Asked {
  image: string;
  token: string | undefined;
  identity: string | undefined;
}

function parsed(input: string): Asked {
  const request = objectOf(input);
  if (request["apiVersion"] !== KUBELET_API_VERSION)
    throw new Error(`apiVersion: must be ${KUBELET_API_VERSION}, not ${JSON.stringify(request["apiVersion"])}`);
  if (request["kind"] !== "CredentialProviderRequest") throw new Error("kind: must be CredentialProviderRequest");
  const { image, serviceAccountToken: token, serviceAccountAnnotations: annotations } = request;
  if (typeof image !== "string" || image === "") throw new Error("image: is required");
  // Go leaves an empty string out or not, by the version.
  const given = token === undefined || token === "" ? undefined : token;
  if (given !== undefined && (typeof given !== "string" || given.length > MAX_TOKEN_CHARS || !JWT.test(given)))
    throw new Error("serviceAccountToken: is no JWT");
  const named =
    typeof annotations === "object" && annotations !== null
      ? (annotations as Record<string, unknown>)[IDENTITY_ANNOTATION]
      : undefined;
  if (named !== undefined && (typeof named !== "string" || !UID.test(named)))
    throw new Error(`serviceAccountAnnotations: ${IDENTITY_ANNOTATION} must be the uid of an identity`);
  return { image, token: given, identity: named };
}

function objectOf(input: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    // The parser's own message would show a part of the input, which may hold a token.
    throw new Error("the request is no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("the request is no JSON object");
  return value as Record<string, unknown>;
}

/** A node has the file alone: the variables of a CI job mean nothing there. */
function fileOnly(env: JobEnvironment): JobEnvironment {
  return { [FILE_VARIABLE]: env[FILE_VARIABLE] };
}

/** `auth` null: no credentials. Of all images of the registry, since the token is for what the identity may pull. */
function response(auth: Record<string, { username: string; password: string }> | null, forMs: number): string {
  return JSON.stringify({
    apiVersion: KUBELET_API_VERSION,
    kind: "CredentialProviderResponse",
    cacheKeyType: "Registry",
    cacheDuration: `${Math.max(0, Math.floor(forMs / 1000))}s`,
    auth,
  });
}
