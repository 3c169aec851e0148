/**
 * The URL at which MCP clients call the server: the resource that they name when they ask for a token, and the audience
 * of that token. Source: RFC 8707 §2, RFC 9728 §1.2.
 */
export function mcpResource(baseUrl: string): string {
  return `${baseUrl}/mcp`;
}
