// Requests to servers: with a time-out, shown by `--debug`, and failures as people understand them.
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { CA_HINT, isUnknownAuthority } from "./certificates.ts";
import { debug, showsRequests, shownBody, shownUrl } from "./debug.ts";

/** The longest that one request takes unless `--timeout` says otherwise. */
const REQUEST_TIMEOUT_MS = 30_000;

/** How one request is sent, besides what fetch takes. */
export interface SendInit extends RequestInit {
  /** The longest that it may take until the headers of the response, in milliseconds. */
  timeoutMs?: number | undefined;
}

/** The server cannot be reached. `sent`: whether the request may have reached it. */
export class Unreachable extends Failure {
  readonly sent: boolean;
  constructor(message: string, { sent, cause, hint }: { sent: boolean; cause: unknown; hint?: string }) {
    super(message, { exit: EXIT.unavailable, cause, ...(hint && { hint }) });
    this.sent = sent;
  }
}

/**
 * Sends a request. Throws an Unreachable when there is no response, and the signal's reason when that is aborted. The
 * body may be read after the time-out; each read of it waits as long again.
 */
export async function send(
  url: string,
  { timeoutMs = REQUEST_TIMEOUT_MS, signal, ...init }: SendInit = {},
): Promise<Response> {
  const method = init.method ?? "GET";
  if (showsRequests()) {
    const type = new Headers(init.headers).get("content-type") ?? "";
    const body = init.body instanceof URLSearchParams ? init.body.toString() : init.body;
    const shown =
      typeof body === "string"
        ? ` ${shownBody(body, type || (body === init.body ? "" : "x-www-form-urlencoded"))}`
        : "";
    debug(`${method} ${shownUrl(url)}${shown}`);
  }
  const startMs = performance.now();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new DOMException("no answer in time", "TimeoutError")), timeoutMs);
  try {
    const signals = signal ? [signal, timeout.signal] : [timeout.signal];
    const response = await fetch(url, { redirect: "manual", ...init, signal: AbortSignal.any(signals) });
    if (showsRequests()) await showResponse(response, `${method} ${shownUrl(url)}`, performance.now() - startMs);
    return response;
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    debug(`${method} ${shownUrl(url)}: ${String(cause)}`);
    throw unreachable(url, cause, timeoutMs);
  } finally {
    clearTimeout(timer);
  }
}

async function showResponse(response: Response, request: string, tookMs: number): Promise<void> {
  const type = response.headers.get("content-type") ?? "";
  const id = response.headers.get("x-request-id");
  const head = `${request}: ${response.status}, ${Math.round(tookMs)} ms${id === null ? "" : `, request ${id}`}`;
  // Streams have no end to wait for, and what is no text is of no use here.
  const text = /json|text\/plain|urlencoded/.test(type) ? await response.clone().text() : "";
  debug(text === "" ? head : `${head}\ndebug: ${shownBody(text, type)}`);
}

// Before the connection is there, nothing was sent.
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function unreachable(url: string, cause: unknown, timeoutMs: number): Unreachable {
  const { host, origin } = new URL(url);
  if (cause instanceof DOMException && cause.name === "TimeoutError")
    return new Unreachable(`${host} did not answer within ${timeoutMs / 1000} s (--timeout)`, { sent: true, cause });
  const inner = cause instanceof Error ? (cause.cause as NodeJS.ErrnoException | undefined) : undefined;
  const code = inner?.code ?? "";
  if (isUnknownAuthority(code))
    return new Unreachable(`UNAVAILABLE: cannot verify the certificate of ${origin}: ${inner?.message ?? code}`, {
      sent: false,
      cause,
      hint: CA_HINT,
    });
  const why =
    code === "ECONNREFUSED"
      ? "nothing listens there"
      : code === "ENOTFOUND"
        ? "there is no such host"
        : inner?.message || code || (cause instanceof Error ? cause.message : String(cause));
  return new Unreachable(`UNAVAILABLE: cannot reach ${origin}: ${why}`, { sent: !NOT_SENT.has(code), cause });
}
