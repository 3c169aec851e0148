import { isUid } from "@moorage/kernel/lib/uid";
import { narrowingWords, OAuthError } from "../http/oauth.ts";
import { capabilityOf } from "../tokens/tokens.ts";
import { mcpResource } from "../tokens/mcp-resource.ts";
import { isDocumentUrl } from "./client-document.ts";
import type { ClientDocuments } from "./client-documents.ts";
import { type Client, clientOf } from "./clients.ts";
import type { Narrowed } from "./flow.ts";
import { isSecret } from "./secrets.ts";

/** A request to the authorization endpoint. */
export interface AuthorizeRequest {
  challenge: string;
  state: string;
  /** A uid; empty when the person is to choose. */
  identityProvider: string;
  narrowed: Narrowed;
  /** The audience of the tokens. */
  resource: string;
}

/** What is known of clients. */
export interface KnownClients {
  redirectUris: readonly string[];
  /** Undefined where no clients of others are served. */
  documents: ClientDocuments | undefined;
}

const MAX_STATE_CHARS = 512;
const MAX_SCOPE_WORDS = 50;

/**
 * Where the answer to the request is to be sent. Until this is known to be a client of ours nothing may be sent to the
 * redirect URI, so the OAuthError that this throws is shown to the person. Source: RFC 6749 §4.1.2.1.
 */
export async function parseTarget(
  parameters: URLSearchParams,
  { redirectUris, documents }: KnownClients,
  nowMs: number,
): Promise<{ client: Client; redirectUri: string }> {
  const id = required(parameters, "client_id");
  const client = documents !== undefined && isDocumentUrl(id) ? await documents(id, nowMs) : clientOf(id, redirectUris);
  if (client === undefined) throw invalid("client_id names no client of this server");
  const redirectUri = required(parameters, "redirect_uri");
  if (!client.mayRedirect(redirectUri)) throw invalid("redirect_uri is none that this client may be sent back to");
  return { client, redirectUri };
}

/** The rest of the request. Throws an OAuthError that is sent to the client. Source: RFC 6749 §4.1.1, RFC 7636 §4.3. */
export function parseAuthorize(parameters: URLSearchParams, client: Client, baseUrl: string): AuthorizeRequest {
  if (required(parameters, "response_type") !== "code")
    throw new OAuthError(400, "unsupported_response_type", "response_type must be code");
  if (!["", "query"].includes(one(parameters, "response_mode"))) throw invalid("response_mode must be query");
  const challenge = required(parameters, "code_challenge");
  if (required(parameters, "code_challenge_method") !== "S256") throw invalid("code_challenge_method must be S256");
  if (!isSecret(challenge)) throw invalid("code_challenge must be a SHA-256 in base64url");
  const identityProvider = one(parameters, "identity_provider");
  return {
    challenge,
    identityProvider,
    state: stateOf(parameters),
    narrowed: parseScope(one(parameters, "scope")),
    resource: resourceOf(parameters, client, baseUrl),
  };
}

/**
 * The audience of the tokens: a client of others gets tokens for MCP alone, with which it cannot call the platform API
 * or the registry. Throws an OAuthError. Source: RFC 8707 §2.
 */
function resourceOf(parameters: URLSearchParams, client: Client, baseUrl: string): string {
  const mcp = mcpResource(baseUrl);
  const allowed = client.host === undefined ? [baseUrl, mcp] : [mcp];
  const asked = one(parameters, "resource");
  // URL parsers of clients add the slash to a URL without a path.
  const resource = asked === `${baseUrl}/` ? baseUrl : asked || allowed[0];
  if (resource === undefined || !allowed.includes(resource))
    throw new OAuthError(400, "invalid_target", `resource must be ${allowed.join(" or ")}`);
  return resource;
}

/** The client's `state`, which is sent back to it; empty when it is absent, given twice or too long. */
export function stateOf(parameters: URLSearchParams): string {
  const [state = "", second] = parameters.getAll("state");
  return second !== undefined || state.length > MAX_STATE_CHARS ? "" : state;
}

/**
 * Parses a scope of names of capabilities and uids of groups, both of which narrow the token. An unknown word is an
 * error: ignoring it would widen the token. Throws an OAuthError.
 */
export function parseScope(text: string): Narrowed {
  const words = narrowingWords(text);
  if (words.length > MAX_SCOPE_WORDS)
    throw new OAuthError(400, "invalid_scope", `scope may hold at most ${MAX_SCOPE_WORDS} words`);
  const capabilities = words.map(capabilityOf).filter((one) => one !== undefined);
  const scopes = words.filter(isUid);
  if (capabilities.length + scopes.length < words.length)
    throw new OAuthError(400, "invalid_scope", "scope must be names of capabilities and uids of groups");
  return { ...(capabilities.length > 0 && { capabilities }), ...(scopes.length > 0 && { scopes }) };
}

/** The parameter; empty when it is absent. Throws an OAuthError when it is given twice. Source: RFC 6749 §3.1. */
export function one(parameters: URLSearchParams, name: string): string {
  const [value = "", second] = parameters.getAll(name);
  if (second !== undefined) throw invalid(`${name} is given more than once`);
  return value;
}

export function required(parameters: URLSearchParams, name: string): string {
  const value = one(parameters, name);
  if (value === "") throw invalid(`${name} is required`);
  return value;
}

function invalid(description: string): OAuthError {
  return new OAuthError(400, "invalid_request", description);
}
