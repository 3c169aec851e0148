import type { RequestHandler, Response } from "@moorage/kernel/core/http";
import { mcpResource } from "@moorage/platform/auth";

/** Where the metadata of the protected resource is. Source: RFC 9728 §3.1. */
export const METADATA_PATH = "/.well-known/oauth-protected-resource/mcp";

const MAX_AGE_S = 300;

/** Answers the metadata, by which clients find where to sign in. Source: RFC 9728 §2. */
export function metadataEndpoint(baseUrl: string): RequestHandler {
  const document = JSON.stringify({
    resource: mcpResource(baseUrl),
    authorization_servers: [baseUrl],
    bearer_methods_supported: ["header"],
    resource_name: "Moorage",
    resource_documentation: `${baseUrl}/docs`,
  });
  return ({ method }, response) => {
    if (method !== "GET" && method !== "HEAD") return answerEmpty(response, 405, { allow: "GET, HEAD" });
    response.statusCode = 200;
    response.setHeader("content-type", "application/json");
    response.setHeader("content-length", Buffer.byteLength(document));
    response.setHeader("cache-control", `public, max-age=${MAX_AGE_S}`);
    response.setHeader("access-control-allow-origin", "*");
    if (method === "HEAD") response.end();
    else response.end(document);
  };
}

/**
 * The challenge of a request without a token, or with one that is not accepted. Source: RFC 6750 §3, RFC 9728 §5.1.
 */
export function challengeOf(baseUrl: string, isRejected: boolean): string {
  const error = isRejected ? 'error="invalid_token", error_description="the token is not accepted here", ' : "";
  return `Bearer ${error}resource_metadata="${baseUrl}${METADATA_PATH}"`;
}

/** Answers without a body. */
export function answerEmpty(response: Response, status: number, headers: Record<string, string>): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader("content-length", 0);
  response.end();
}
