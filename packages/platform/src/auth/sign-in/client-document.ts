import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { Client } from "./clients.ts";

/**
 * Why a client's metadata document is not accepted, in words that may be shown to anybody: they hold no text of the
 * document.
 */
export class ClientDocumentError extends Error {}

const MAX_URL_CHARS = 512;
const MAX_NAME_CHARS = 100;
const MAX_REDIRECT_URIS = 50;
const MAX_DEPTH = 8;
const LOOPBACK_HOSTS = new Set(["127.0.0.1", "[::1]", "localhost"]);
// Such as com.example.app: without a dot it may be a scheme that browsers know. Source: RFC 8252 §7.1.
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;

/** Whether the client id is the URL of a metadata document, acceptable or not. */
export function isDocumentUrl(id: string): boolean {
  return /^https?:/i.test(id);
}

/**
 * The URL of a metadata document. Throws a ClientDocumentError for one that may be no client id. Source:
 * draft-ietf-oauth-client-id-metadata-document §3.
 */
export function parseDocumentUrl(id: string): URL {
  const url = id.length > MAX_URL_CHARS ? null : URL.parse(id);
  const isPlain = url !== null && url.username === "" && url.password === "" && !id.includes("#");
  // One text for each client: what a browser would normalize, such as dot segments, is none.
  if (!isPlain || url.href !== id || url.pathname === "/")
    throw new ClientDocumentError("client_id must be a URL with a path, without dot segments, user name and fragment");
  if (url.protocol !== "https:") throw new ClientDocumentError("client_id must be an https URL");
  return url;
}

/**
 * The client that a metadata document describes. Throws a ClientDocumentError for a document that is of another client
 * or describes none that this server serves. Source: draft-ietf-oauth-client-id-metadata-document §4, RFC 7591 §2.
 */
export function parseDocument(url: URL, body: string): Client {
  let document: unknown;
  try {
    document = parseJson(body, MAX_DEPTH);
  } catch {
    throw new ClientDocumentError("the client's metadata document is not well-formed JSON");
  }
  if (!isObject(document)) throw new ClientDocumentError("the client's metadata document is not a JSON object");
  if (document["client_id"] !== url.href)
    throw new ClientDocumentError("the client's metadata document is about another client_id");
  if (!["none", undefined].some((method) => method === document["token_endpoint_auth_method"]))
    throw new ClientDocumentError(
      "the client's token_endpoint_auth_method must be none: clients prove themselves by PKCE",
    );
  if ("client_secret" in document)
    throw new ClientDocumentError("the client's metadata document must not hold a client_secret");
  requireListed(document, "grant_types", "authorization_code");
  requireListed(document, "response_types", "code");
  const redirectUris = redirectUrisOf(document["redirect_uris"]);
  const name = document["client_name"];
  return {
    id: url.href,
    name: typeof name === "string" ? name.slice(0, MAX_NAME_CHARS).toWellFormed() : "",
    host: url.host,
    mayRedirect: (uri) => redirectUris.some((listed) => uri === listed || isSameLoopback(uri, listed)),
  };
}

function requireListed(document: Record<string, unknown>, name: string, value: string): void {
  const listed = document[name];
  if (listed !== undefined && !(Array.isArray(listed) && listed.includes(value)))
    throw new ClientDocumentError(`the client's ${name} must list ${value}`);
}

function redirectUrisOf(value: unknown): string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_REDIRECT_URIS)
    throw new ClientDocumentError(`the client's redirect_uris must be a list of 1 to ${MAX_REDIRECT_URIS} URLs`);
  return value.map((uri: unknown) => {
    if (typeof uri !== "string" || !mayBeListed(uri))
      throw new ClientDocumentError(
        "the client's redirect_uris must be https URLs, http URLs of the own machine, or of a scheme such as com.example.app",
      );
    return uri;
  });
}

function mayBeListed(uri: string): boolean {
  const url = uri.length > MAX_URL_CHARS ? null : URL.parse(uri);
  if (url === null || uri.includes("#") || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "http:") return LOOPBACK_HOSTS.has(url.hostname);
  return url.protocol === "https:" || PRIVATE_SCHEME.test(url.protocol);
}

/**
 * Whether the URI is one of the own machine that differs from the listed one in nothing but its port, which programs
 * choose when they listen. Source: RFC 8252 §7.3.
 */
function isSameLoopback(uri: string, listed: string): boolean {
  const [asked, known] = [uri.length > MAX_URL_CHARS ? null : URL.parse(uri), URL.parse(listed)];
  if (asked === null || known === null || known.protocol !== "http:" || asked.href !== uri) return false;
  asked.port = known.port;
  return asked.href === known.href;
}
