// How commands call a server: REST with JSON, as the caller of caller.ts. Nothing of protobuf is needed for it.
import { type Origin, originOf, platformToken, publicOriginOf } from "../caller.ts";
import { durationOfFlag } from "../command/duration.ts";
import { Failure } from "../command/failure.ts";
import type { ServerFlags } from "../command/global-options.ts";
import { interruption } from "../command/interrupt.ts";
import { showRequests } from "../http/debug.ts";
import { ApiFailure, type Json, type JsonObject } from "./failure.ts";
import { send } from "../http/http.ts";
import { allPages, type ListOptions, type Query } from "./paging.ts";
import { Remembered } from "./answer-cache.ts";
import { withRetries } from "./retry.ts";

export { ApiFailure, type Json, type JsonObject } from "./failure.ts";
export type { ListOptions, Query } from "./paging.ts";

// Tokens for the registry hold some minutes: long pushes outlive them.
const REGISTRY_TOKEN_MS = 120_000;

/** The HTTP verbs of the API. */
export type Verb = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** What goes with a call. */
export interface CallOptions {
  query?: Query;
  body?: Json;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Whether it may be made again when it is not known whether it came through. By default for GET. */
  reads?: boolean;
}

/** Whose token a request carries: the platform's, or one for the registry of the same server. */
type Audience = "platform" | "registry";

/** How a request of any kind is sent. */
interface FetchInit extends RequestInit {
  audience?: Audience;
  /** The longest that it may take until it is answered, in milliseconds, unless `--timeout` says otherwise. */
  timeoutMs?: number;
  /** Of a body that is a stream. */
  duplex?: "half";
}

/** A server's API, called as one identity. */
export interface RestClient {
  /** URL of the server. */
  readonly url: string;
  /** The access token of its calls; empty for nobody. */
  bearer(): string;
  /** Calls a method. An empty response is `{}`. Throws an ApiFailure, an Unreachable, or the signal's reason. */
  call(verb: Verb, path: string, options?: CallOptions): Promise<JsonObject>;
  /** The items of a list over all its pages, each page asked for when it is needed. `field`: their name in a page. */
  list(path: string, field: string, options?: ListOptions): AsyncGenerator<JsonObject>;
  /** Sends any request below the server's URL, whatever is answered; for the registry below the registry's. */
  fetch(path: string, init?: FetchInit): Promise<Response>;
}

/**
 * The server and the caller of the flags. `remembers`: what was asked for before is asked for again only if it
 * changed, for commands that watch. `isPublic`: anybody may ask, so that no sign-in is needed. Throws a Failure that
 * says what is missing.
 */
export async function openRest(
  flags: ServerFlags,
  { remembers = false, isPublic = false }: { remembers?: boolean; isPublic?: boolean } = {},
): Promise<RestClient> {
  if (flags.debug === true) showRequests(true);
  const timeoutMs = flags.timeout === undefined ? undefined : durationOfFlag("--timeout", flags.timeout);
  const stopped = interruption();
  const remembered = remembers ? new Remembered() : undefined;
  const origin = isPublic ? await publicOriginOf(flags) : await originOf(flags);
  const first = await platformToken(origin);
  const { url } = first;
  let { token } = first;
  const registry = registryOf(origin, () => ({ url, token }));

  const request = async (path: string, init: FetchInit = {}): Promise<Response> => {
    const { audience = "platform", signal, timeoutMs: ownMs, ...rest } = init;
    const signals = signal ? AbortSignal.any([signal, stopped]) : stopped;
    const place = audience === "platform" ? { url, token } : await registry();
    const headers = new Headers(rest.headers);
    if (!headers.has("authorization") && place.token !== "") headers.set("authorization", `Bearer ${place.token}`);
    return send(`${place.url}${path}`, { ...rest, headers, signal: signals, timeoutMs: timeoutMs ?? ownMs });
  };

  const once = async (verb: Verb, path: string, { query, body, headers, signal }: CallOptions): Promise<JsonObject> => {
    const full = `${path}${queryText(query)}`;
    const known = verb === "GET" ? remembered : undefined;
    const response = await request(full, {
      method: verb,
      headers: {
        accept: "application/json",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...known?.headers(full),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const content = await jsonOf(response, signal ?? stopped);
    const unchanged = response.status === 304 ? known?.unchanged(full) : undefined;
    if (unchanged !== undefined) return unchanged;
    if (response.ok) {
      known?.add(full, response.headers.get("etag"), content ?? {});
      return content ?? {};
    }
    throw new ApiFailure(response, content, `${url}${path}`, token);
  };

  const call = (verb: Verb, path: string, options: CallOptions = {}): Promise<JsonObject> =>
    withRetries(options.reads ?? verb === "GET", stopped, async () => {
      try {
        return await once(verb, path, options);
      } catch (error) {
        // Long lists outlive a token that this command can replace.
        if (!(error instanceof ApiFailure) || error.httpStatus !== 401 || origin.kind === "given") throw error;
        const fresh = await platformToken(origin);
        if (fresh.token === token) throw error;
        ({ token } = fresh);
        return once(verb, path, options);
      }
    });

  return {
    url,
    bearer: () => token,
    call,
    list: (path, field, options = {}) =>
      allPages((query, signal) => call("GET", path, { query, ...(signal && { signal }) }), field, options),
    fetch: request,
  };
}

/** Asks the server whether it accepts the caller's token. Throws the ApiFailure of other commands when it does not. */
export async function checkToken(rest: Pick<RestClient, "bearer" | "call">): Promise<void> {
  if (rest.bearer() !== "") await rest.call("GET", "/iam/v2/groups", { query: { page_size: 1 }, reads: false });
}

/** The query of a path, with `?`; empty without parameters. */
function queryText(query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) params.append(name, String(one));
  const text = params.toString();
  return text === "" ? "" : `?${text}`;
}

async function jsonOf(response: Response, signal: AbortSignal): Promise<JsonObject | undefined> {
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new Failure(`${new URL(response.url).host} broke off its response`, { exit: 7, cause });
  }
  if (text === "") return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The URL of the server's registry and a token for it, asked for again before it ends. */
function registryOf(
  origin: Origin,
  platform: () => { url: string; token: string },
): () => Promise<{ url: string; token: string }> {
  let asked: Promise<{ url: string; token: string }> | undefined;
  const ask = async (): Promise<{ url: string; token: string }> => {
    const { url, token } = platform();
    const { registryHost } = await import("../registry-host.ts");
    const host = await registryHost(url);
    const place = `${new URL(url).protocol}//${host}`;
    if (origin.kind === "data folder") {
      const { signOwnToken } = await import("../owner-token.ts");
      return {
        url: place,
        token: await signOwnToken({ dataDir: origin.dataDir, audience: "registry", ttlMs: 300_000 }),
      };
    }
    const { endpointsOf, tradeToken } = await import("../oauth.ts");
    return { url: place, token: await tradeToken((await endpointsOf(url)).token, token, host) };
  };
  let askedMs = 0;
  return () => {
    const nowMs = performance.now();
    if (asked === undefined || nowMs - askedMs > REGISTRY_TOKEN_MS) [asked, askedMs] = [ask(), nowMs];
    return asked;
  };
}
