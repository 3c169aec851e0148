import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { methodCalls, type McpRequest } from "./method-calls.ts";
import type { Tool, ToolRunner } from "./tool.ts";
import { TOOLS } from "./tools/index.ts";
import type { Pipeline } from "../runtime/pipeline.ts";

/** What the tools are run with. */
export interface McpServerDeps {
  pipeline: Pick<Pipeline, "unary">;
  version: string;
  registryHost: string;
  /** Notes a call of a tool in the audit log. */
  note(request: McpRequest, tool: string, resource: string, error?: unknown): void;
  /** An error as the caller may see it. */
  shown(error: unknown, request: McpRequest): unknown;
}

/** Answers requests of MCP clients of all versions. It keeps nothing between two requests. */
export interface McpHandler {
  /** `body`: the parsed body of a POST. `writes`: whether tools that change something are offered. */
  answer(web: Request, body: unknown, request: McpRequest, writes: boolean): Promise<Response>;
}

const INSTRUCTIONS =
  "Moorage is a container registry. Images are named as acme/team/app:1.2. Begin with find_image when you do not know a name exactly. " +
  "All tools work with the rights of the person whose token this is.";
const READS_ONLY =
  " Only tools that read are offered here: those that change something are at the same URL with ?write=true.";

/** The same URL has the same tools until the server is replaced by another version. */
const CACHED = { ttlMs: 300_000, cacheScope: "private" } as const;
const CACHE_HINTS = { "tools/list": CACHED, "server/discover": CACHED };

/**
 * The MCP server, by the official SDK. It serves 2026-07-28, whose requests carry all that they need, and clients of
 * 2025-11-25 and before without a session: any replica answers any request. This file, which loads the SDK, is imported
 * at the first request.
 */
export function createMcpServer(deps: McpServerDeps): McpHandler {
  return {
    async answer(web, body, request, writes) {
      const make = (): McpServer => newServer(deps, request, writes);
      if (await isLegacyRequest(web, body)) return answerLegacy(make(), web, body);
      const handler = createMcpHandler(make, { legacy: "reject", maxSubscriptions: 0 });
      try {
        return await handler.fetch(web, { parsedBody: body });
      } finally {
        await handler.close();
      }
    },
  };
}

/** Answers a client of 2025-11-25 or before, in one JSON body. */
async function answerLegacy(server: McpServer, web: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(web, { parsedBody: body });
  } finally {
    await server.close();
  }
}

function newServer(deps: McpServerDeps, request: McpRequest, writes: boolean): McpServer {
  const { pipeline, version, registryHost, note, shown } = deps;
  const server = new McpServer(
    { name: "moorage", title: "Moorage", version },
    {
      instructions: `${INSTRUCTIONS}${writes ? "" : READS_ONLY}`,
      capabilities: { tools: { listChanged: false } },
      cacheHints: CACHE_HINTS,
    },
  );
  const runner: ToolRunner = {
    contextOf: (tool: Tool) => ({
      call: methodCalls(pipeline, request, tool.methods),
      identity: request.caller.identity,
      registryHost,
    }),
    done: (tool, resource, error) => note(request, tool.name, resource, error),
    shown: (error) => shown(error, request),
  };
  for (const tool of TOOLS) if (writes || tool.annotations.readOnlyHint) tool.register(server, runner);
  return server;
}
