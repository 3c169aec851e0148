import { type Authenticator, authorizationOf, mcpResource, rejectedCaller } from "@moorage/platform/auth";
import { type AuditEvent, type Auditor, rejectionOf } from "@moorage/kernel/audit";
import { ANONYMOUS, type Caller, type CallData } from "@moorage/kernel/core/call";
import {
  readBody,
  type Request,
  type RequestData,
  type RequestHandler,
  type Response,
} from "@moorage/kernel/core/http";
import { Code, invalidArgument, MoorageError } from "@moorage/kernel/errors";
import type { Clock } from "@moorage/kernel/lib/clock";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { createCallLimits } from "./call-limits.ts";
import type { McpRequest } from "./method-calls.ts";
import { isOwnOrigin } from "./origins.ts";
import { answerEmpty, challengeOf } from "./resource-metadata.ts";
import type { McpHandler, McpServerDeps } from "./server.ts";
import { sendWeb, webRequest } from "./web-requests.ts";

export interface McpEndpointDeps extends Pick<McpServerDeps, "pipeline" | "version" | "registryHost"> {
  baseUrl: string;
  authenticate: Authenticator;
  auditor: Pick<Auditor, "note">;
  clock: Pick<Clock, "nowMs">;
  answerError(response: Response, error: unknown, data: RequestData, status?: number): void;
  /** An error as the caller may see it. */
  shown(error: unknown, requestId: string): MoorageError;
}

const MAX_BODY_BYTES = 256 * 1024;
const BODY_TIMEOUT_MS = 30_000;
/** As long as the slowest tool may take, and a little. */
const CALL_TIMEOUT_MS = 60_000;
const MAX_CALLS = { all: 64, identity: 8 };
const MAX_DEPTH = 32;
const MAX_USER_AGENT_CHARS = 512;

/**
 * POST /mcp: the Model Context Protocol over streamable HTTP. `/mcp` offers the tools that read, `/mcp?write=true`
 * those that write as well.
 */
export function mcpEndpoint(deps: McpEndpointDeps): RequestHandler {
  const { baseUrl, answerError } = deps;
  const limits = createCallLimits(MAX_CALLS);
  let loading: Promise<McpHandler> | undefined;
  const load = (): Promise<McpHandler> =>
    // The SDK is loaded at the first request: a server that nobody asks saves its memory.
    (loading ??= import("./server.ts").then(({ createMcpServer }) => createMcpServer(serverDeps(deps))));
  return async (request, response, data) => {
    try {
      if (!isOwnOrigin(request.headers, baseUrl))
        throw new MessageError(403, INVALID_REQUEST, `the request must be of no other site, and for ${baseUrl}`);
      // There is no stream to GET and no session to DELETE.
      if (request.method !== "POST") return answerEmpty(response, 405, { allow: "POST" });
      const writes = writesOf(request);
      const caller = await identify(deps, request, data);
      const body = await bodyOf(request);
      const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
      const userAgent = (request.headers["user-agent"] ?? "").slice(0, MAX_USER_AGENT_CHARS);
      const call = { caller, data, authorization: authorizationOf(request), userAgent, signal: timeout };
      const web = webRequest(request, mcpResource(baseUrl), timeout);
      const answer = await limits.run(caller.identity, async () =>
        within(timeout, (await load()).answer(web, body, call, writes)),
      );
      await sendWeb(response, answer);
    } catch (error) {
      if (error instanceof MoorageError && error.code === Code.Unauthenticated)
        response.setHeader("www-authenticate", challengeOf(baseUrl, authorizationOf(request) !== undefined));
      if (error instanceof MessageError) return sendWeb(response, error.answer);
      answerError(response, error, data);
    }
  };
}

function serverDeps({ pipeline, version, registryHost, auditor, clock, shown }: McpEndpointDeps): McpServerDeps {
  return {
    pipeline,
    version,
    registryHost,
    shown: (error, { data }) => shown(error, data.requestId),
    note: (request, tool, resource, error) =>
      auditor.note(callData(request, clock.nowMs()), entryOf(tool, resource, error)),
  };
}

/** The audit entry of a tool's call. What its methods do or reject has entries of its own. */
function entryOf(tool: string, resource: string, error: unknown): AuditEvent {
  const method = `mcp.${tool}`;
  if (error === undefined) return { method, resource, decision: "allowed" };
  const rejection = rejectionOf(error, { hides: true, writes: true });
  if (rejection !== undefined) return { method, resource, decision: "denied", ...rejection };
  // A wrong argument is no rejection: nothing was asked for.
  const code = error instanceof MoorageError ? error.code : Code.Internal;
  return { method, resource, decision: "allowed", code };
}

function callData({ caller, data, userAgent }: McpRequest, nowMs: number): CallData {
  return { caller, requestId: data.requestId, nowMs, remoteAddress: data.remoteAddress, userAgent };
}

/** Whether the tools that write are asked for. Throws INVALID_ARGUMENT for anything but true and false. */
function writesOf({ url = "/" }: Request): boolean {
  const values = new URL(url, "http://localhost").searchParams.getAll("write");
  if (values.length === 0) return false;
  if (values.length > 1 || !["true", "false"].includes(values[0] ?? ""))
    throw invalidArgument({ field: "write", description: "must be true or false, once" });
  return values[0] === "true";
}

/** The caller of the token. Throws UNAUTHENTICATED, also for a token that is for the registry or others. */
async function identify(deps: McpEndpointDeps, request: Request, data: RequestData): Promise<Caller> {
  const { authenticate, auditor, clock } = deps;
  const authorization = authorizationOf(request);
  const nowMs = clock.nowMs();
  try {
    const caller = await authenticate(authorization, "mcp", nowMs);
    data.authenticated?.();
    data.admit?.(caller.identity);
    return caller;
  } catch (error) {
    const rejection = authorization === undefined ? undefined : rejectionOf(error, {});
    if (rejection === undefined) throw error;
    const caller = rejectedCaller(error) ?? ANONYMOUS;
    const userAgent = request.headers["user-agent"] ?? "";
    const call = { caller, requestId: data.requestId, nowMs, remoteAddress: data.remoteAddress, userAgent };
    auditor.note(call, { method: "mcp", resource: caller.identity, ...rejection, code: Code.Unauthenticated });
    // A token for another audience is answered like an invalid one. Source: MCP 2026-07-28, "Authorization".
    throw new MoorageError(
      Code.Unauthenticated,
      "Unauthenticated: the token is not accepted here: sign in for this URL",
    );
  }
}

/** A body that is no message, with the answer. Source: JSON-RPC 2.0 §5.1. */
class MessageError extends Error {
  readonly answer: globalThis.Response;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.answer = globalThis.Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
  }
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** The parsed body. Throws a MessageError for anything but one JSON-RPC message. */
async function bodyOf(request: Request): Promise<unknown> {
  const limits = { maxBytes: MAX_BODY_BYTES, timeoutMs: BODY_TIMEOUT_MS };
  const bytes = await readBody(request, limits, (problem) =>
    problem === "too large"
      ? new MessageError(413, INVALID_REQUEST, `the body is larger than ${MAX_BODY_BYTES} bytes`)
      : new MessageError(400, PARSE_ERROR, "the body did not arrive whole"),
  );
  let message: unknown;
  try {
    message = parseJson(bytes.toString("utf8"), MAX_DEPTH);
  } catch {
    throw new MessageError(400, PARSE_ERROR, "the body is not well-formed JSON");
  }
  // A batch would be as many calls as it has messages; no version since 2025-06-18 has any.
  if (!isObject(message)) throw new MessageError(400, INVALID_REQUEST, "the body must be one JSON-RPC message");
  return message;
}

/** The result of the work, or UNAVAILABLE once the signal is aborted. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const end = (): void =>
    late.reject(new MoorageError(Code.Unavailable, "Unavailable: the call took too long", { retryAfterMs: 1000 }));
  signal.addEventListener("abort", end, { once: true });
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    signal.removeEventListener("abort", end);
    work.catch(() => {});
  }
}
