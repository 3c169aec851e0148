import type { RequestHandler } from "@moorage/kernel/core/http";
import { mcpEndpoint, type McpEndpointDeps } from "./endpoint.ts";
import { METADATA_PATH, metadataEndpoint } from "./resource-metadata.ts";

/** The endpoints of MCP, by path. */
export function mcpEndpoints(deps: McpEndpointDeps): Record<string, RequestHandler> {
  const metadata = metadataEndpoint(deps.baseUrl);
  return {
    "/mcp": mcpEndpoint(deps),
    [METADATA_PATH]: metadata,
    // Where clients look that do not know the path yet.
    "/.well-known/oauth-protected-resource": metadata,
  };
}
