// Passes the messages of MCP between standard input and output, one JSON object a line, and the /mcp of a server, with
// the token of the person. It knows no tool: what the server offers is offered here, in all versions of the protocol.
import { originOf, platformToken, type Origin } from "./caller.ts";
import { isPersonalToken } from "./caller-identity.ts";
import { claimsOf } from "./claims.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { certificateHint } from "./http/certificates.ts";
import { linesOf } from "./mcp-lines.ts";
import { headersOf, isRecord, type Message } from "./mcp-messages.ts";

const CALL_TIMEOUT_MS = 90_000;
/** A token is replaced when it is good for no longer than this. */
const SPARE_MS = 60_000;
const MAX_CONCURRENT = 4;
// JSON-RPC leaves -32000 to -32099 to servers.
const SERVER_ERROR = -32_000;
const PARSE_ERROR = -32_700;

/** Serves until standard input ends, or until a signal stops it. Throws an Error that says why it cannot begin. */
export async function serveBridge(flags: ServerFlags & { write?: boolean }): Promise<void> {
  const origin = await originOf(flags);
  const tokens = tokensOf(origin);
  const { url } = await tokens();
  const target = `${url}/mcp${flags.write === true ? "?write=true" : ""}`;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
  // A client that has gone takes no answers.
  process.stdout.once("error", stop);
  console.error(`moorage: tools of ${url}${flags.write === true ? ", writing ones too" : ", reading only"}`);
  const bridge = new Bridge(target, async () => (await tokens()).token, stopping.signal);
  try {
    for await (const line of linesOf(process.stdin, stopping.signal)) {
      if (line === undefined)
        bridge.answer({ error: { code: PARSE_ERROR, message: "the line is too long" }, id: null });
      else if (line.trim() !== "") await bridge.take(line);
    }
    await bridge.finish();
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
    process.stdin.destroy();
  }
}

/** The server's URL and a token for it, kept until shortly before it ends. */
function tokensOf(origin: Origin): () => Promise<{ url: string; token: string }> {
  let known: { url: string; token: string; endMs: number } | undefined;
  return async () => {
    if (known === undefined || known.endMs - SPARE_MS < Date.now()) {
      const fresh = await platformToken(origin, SPARE_MS);
      const isPersonal = isPersonalToken(fresh.token);
      known = { ...fresh, endMs: isPersonal ? Infinity : Number(claimsOf(fresh.token)["exp"]) * 1000 };
    }
    return known;
  };
}

class Bridge {
  readonly #target: string;
  readonly #token: () => Promise<string>;
  readonly #stopping: AbortSignal;
  /** The requests under way, by their ids as JSON. */
  readonly #running = new Map<string, AbortController>();
  readonly #work = new Set<Promise<void>>();
  /** The version that the handshake ended with, which later requests of clients before 2026-07-28 must name. */
  #version: string | undefined;

  constructor(target: string, token: () => Promise<string>, stopping: AbortSignal) {
    this.#target = target;
    this.#token = token;
    this.#stopping = stopping;
  }

  /** Takes a line. Resolves when the next one may be read: so many requests are under way at most. */
  async take(line: string): Promise<void> {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return this.answer({ error: { code: PARSE_ERROR, message: "the line is not well-formed JSON" }, id: null });
    }
    if (!isRecord(message))
      return this.answer({ error: { code: PARSE_ERROR, message: "the line is not a JSON object" }, id: null });
    if (message["method"] === "notifications/cancelled") return this.#cancel(message);
    const work = this.#pass(message).finally(() => this.#work.delete(work));
    this.#work.add(work);
    // The handshake is answered before anything else is sent: what follows it names the version.
    if (message["method"] === "initialize") await work;
    while (this.#work.size >= MAX_CONCURRENT) await Promise.race(this.#work);
  }

  /** Waits for the requests that are under way. */
  async finish(): Promise<void> {
    await Promise.all(this.#work);
  }

  answer(message: Record<string, unknown>): void {
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #cancel({ params }: Message): void {
    if (isRecord(params)) this.#running.get(JSON.stringify(params["requestId"]))?.abort();
  }

  async #pass(message: Message): Promise<void> {
    const { id, method } = message;
    const stop = new AbortController();
    const key = JSON.stringify(id);
    if (id !== undefined) this.#running.set(key, stop);
    try {
      const answer = await this.#post(message, stop.signal);
      if (id === undefined || stop.signal.aborted) return;
      if (method === "initialize" && isRecord(answer["result"]))
        this.#version = String(answer["result"]["protocolVersion"]);
      process.stdout.write(`${JSON.stringify(answer)}\n`);
    } catch (error) {
      // Who cancels a request waits for no answer.
      if (id === undefined || stop.signal.aborted || this.#stopping.aborted) return;
      this.answer({ id, error: { code: SERVER_ERROR, message: textOf(error) } });
    } finally {
      this.#running.delete(key);
    }
  }

  async #post(message: Message, canceled: AbortSignal): Promise<Record<string, unknown>> {
    const response = await fetch(this.#target, {
      method: "POST",
      redirect: "error",
      headers: { ...headersOf(message, this.#version), authorization: `Bearer ${await this.#token()}` },
      body: JSON.stringify(message),
      signal: AbortSignal.any([canceled, this.#stopping, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
    });
    const text = await response.text();
    const body: unknown = text.startsWith("{") ? JSON.parse(text) : {};
    if (isRecord(body) && body["jsonrpc"] === "2.0") return body;
    if (response.ok) return {};
    const said = isRecord(body) && typeof body["message"] === "string" ? body["message"] : response.statusText;
    throw new Error(`the server answers ${response.status}: ${said}`);
  }
}

function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const hint = certificateHint(error);
  const why = cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
  return hint === undefined ? why : `${why}; ${hint}`;
}
