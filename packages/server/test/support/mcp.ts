import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** The official clients: that of 2026-07-28, the same with the handshake of 2025-11-25, and the one before it. */
export const CLIENTS = ["2026-07-28", "2025-11-25", "SDK 1.x"] as const;
export type ClientKind = (typeof CLIENTS)[number];

interface ListedTool {
  name: string;
  title?: string | undefined;
  annotations?: Record<string, unknown> | undefined;
  inputSchema: object;
  outputSchema?: object | undefined;
}

/** What a tool answered. */
interface Called {
  isError: boolean;
  /** Its structured content. */
  answer: Record<string, unknown>;
  text: string;
}

/** A client that is connected. */
export interface McpClient {
  instructions: string;
  tools(): Promise<ListedTool[]>;
  call(name: string, args?: Record<string, unknown>): Promise<Called>;
  close(): Promise<void>;
}

const INFO = { name: "moorage-test", version: "1.0.0" };

/** Connects an official client to the URL, with the token as Bearer. Rejects when the server does not let it. */
export async function connectMcp(kind: ClientKind, url: string, token: string): Promise<McpClient> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  if (kind === "SDK 1.x") {
    const old = new OldClient(INFO);
    await old.connect(new OldTransport(new URL(url), { requestInit }));
    return {
      instructions: old.getInstructions() ?? "",
      tools: async () => (await old.listTools()).tools,
      call: async (name, args = {}) => calledOf(await old.callTool({ name, arguments: args })),
      close: () => old.close(),
    };
  }
  const mode = kind === "2025-11-25" ? "legacy" : ({ pin: kind } as const);
  const client = new Client(INFO, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return clientOf(client);
}

/** A connected client of the SDK 2.x. */
export function clientOf(client: Client): McpClient {
  return {
    instructions: client.getInstructions() ?? "",
    tools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => calledOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

function calledOf(result: Record<string, unknown>): Called {
  const content = (result["content"] ?? []) as { type: string; text?: string }[];
  return {
    isError: result["isError"] === true,
    answer: (result["structuredContent"] ?? {}) as Record<string, unknown>,
    text: content.map(({ text = "" }) => text).join("\n"),
  };
}
