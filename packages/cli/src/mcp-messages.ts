/** A message of JSON-RPC. */
export type Message = Record<string, unknown>;

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
// What may stand in a header as it is. Source: RFC 9110 §5.5.
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The headers that a message has over HTTP: since 2026-07-28 what its body says of version, method and name; before,
 * the version of the handshake. Source: MCP 2026-07-28, "Transports", standard headers.
 */
export function headersOf(message: Message, handshake: string | undefined): Record<string, string> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const { method, params } = message;
  const meta = isRecord(params) ? params["_meta"] : undefined;
  const version = isRecord(meta) ? meta[VERSION_KEY] : undefined;
  if (typeof version !== "string" || typeof method !== "string")
    return handshake === undefined ? headers : { ...headers, "mcp-protocol-version": handshake };
  const name = isRecord(params) ? (params["name"] ?? params["uri"]) : undefined;
  return {
    ...headers,
    "mcp-protocol-version": version,
    "mcp-method": encoded(method),
    ...(typeof name === "string" && { "mcp-name": encoded(name) }),
  };
}

function encoded(text: string): string {
  return PLAIN.test(text) && !text.startsWith("=?base64?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
