import type { LookupFunction } from "node:net";
import { promisify } from "node:util";
import { gunzip as gunzipWith } from "node:zlib";
import ipaddr from "ipaddr.js";
import { createResolver } from "./dns/resolver.ts";

const gunzip = promisify(gunzipWith);

/** The limits of a request to a URL that a user supplied. */
export interface FetchOptions {
  /** Allows loopback and private addresses, and plain http. For development and tests. */
  allowPrivateNetwork: boolean;
  /** Allows plain http to public addresses as well: for answers that are signed. Defaults to false. */
  allowsPlainHttp?: boolean;
  /** The name servers; with none, those of the operating system. */
  dnsServers?: readonly string[];
  /** For the whole exchange: name resolution, connection, headers and body. */
  timeoutMs: number;
  /** Of the response body. */
  maxBytes: number;
  /** Answers redirects as they are instead of refusing them; they are never followed. Defaults to false. */
  answersRedirects?: boolean;
  /**
   * Unpacks bodies that are sent in gzip although none is asked for, as storage with packed files does; `maxBytes` is
   * the limit of both forms. Defaults to false: they are refused.
   */
  unpacksGzip?: boolean;
}

export interface FetchInit {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Ends the exchange early, which then fails. */
  signal?: AbortSignal;
}
export interface FetchAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}
export type GuardedFetch = (url: string, init?: FetchInit) => Promise<FetchAnswer>;

/**
 * Why a URL could not be fetched. `refused`: the rules of this module forbid the address or the response, so a retry
 * will not help; `failed`: the host could not be reached in time. The message contains no address.
 */
export class FetchError extends Error {
  readonly kind: "refused" | "failed";

  constructor(kind: "refused" | "failed", message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/**
 * The only way in which the server requests URLs that users supply. The resolved addresses are checked, and the
 * connection goes to exactly those: a name server cannot return one address for the check and another for the
 * connection. Redirects, content encodings (a small body can decompress to a huge one; see `unpacksGzip`), user names
 * in the URL and bodies over the limit are refused. Every call has its own connection, closed at its end. Throws a
 * FetchError.
 */
export function guardedFetch(options: FetchOptions): GuardedFetch {
  const lookup = checkedLookup(options);
  return async (text, init = {}) => {
    const url = checkedUrl(text, options);
    // Imported on first use: a server that never fetches saves 10 MiB of memory. The signal also ends a connection
    // attempt.
    const { Agent, request } = await import("undici");
    const agent = new Agent({
      connect: { lookup, timeout: options.timeoutMs },
      connections: 1,
      maxHeaderSize: 16_384,
    });
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const signal = init.signal === undefined ? timeout : AbortSignal.any([timeout, init.signal]);
    try {
      const headers = { "user-agent": "moorage", ...init.headers, "accept-encoding": "identity" };
      const answer = await request(url, {
        dispatcher: agent,
        method: init.method ?? "GET",
        headers,
        body: init.body ?? null,
        signal,
      });
      const rejection = rejectionOf(answer.statusCode, answer.headers, options);
      if (rejection !== undefined) {
        answer.body.on("error", () => {}).destroy();
        throw new FetchError("refused", rejection);
      }
      const body = await readBounded(answer.body, options.maxBytes);
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: isEncoded(answer.headers) ? await unpacked(body, options.maxBytes) : body,
      };
    } catch (error) {
      throw fetchError(error);
    } finally {
      await agent.destroy();
    }
  };
}

/**
 * The parsed URL, if the server may request it. A host name is checked later, when it is resolved. Throws a FetchError.
 */
export function checkedUrl(
  text: string,
  { allowPrivateNetwork, allowsPlainHttp = false }: Pick<FetchOptions, "allowPrivateNetwork" | "allowsPlainHttp">,
): URL {
  const url = URL.parse(text);
  if (!url) throw new FetchError("refused", "not a URL");
  const allowsHttp = allowPrivateNetwork || allowsPlainHttp;
  if (url.protocol !== "https:" && !(allowsHttp && url.protocol === "http:"))
    throw new FetchError("refused", "not an https URL");
  if (url.username !== "" || url.password !== "") throw new FetchError("refused", "a URL with a user name");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (!allowPrivateNetwork && ipaddr.isValid(host) && !isPublicAddress(host))
    throw new FetchError("refused", "the address is not a public one");
  return url;
}

/** What may be reached, and who is asked for names. */
export type LookupRules = Pick<FetchOptions, "allowPrivateNetwork" | "dnsServers">;

/**
 * Resolves a name for the connection, and returns its addresses only if every one of them may be reached. Look-ups take
 * no thread and end after 5 seconds (lib/dns/resolver.ts).
 */
export function checkedLookup({ allowPrivateNetwork, dnsServers = [] }: LookupRules): LookupFunction {
  const mayReach = (address: string): boolean => allowPrivateNetwork || isPublicAddress(address);
  const resolve = createResolver({ servers: dnsServers });
  return (hostname, { all, family }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        if (!addresses.every(({ address }) => mayReach(address)))
          return callback(new FetchError("refused", "the address is not a public one"), "");
        const fit = addresses.filter((one) => (family !== 4 && family !== 6) || one.family === family);
        const [first] = fit;
        if (first === undefined) return callback(new FetchError("failed", "the name has no address"), "");
        return all ? callback(null, fit) : callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

/** Whether the address belongs to the public internet; false for addresses of unknown ranges. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== "unicast") return false;
  // 2000::/3 is all that is allocated in IPv6; the rest is not public, even where the library does not know the range.
  return address.kind() === "ipv4" || ((address as ipaddr.IPv6).parts[0] ?? 0) >> 13 === 1;
}

function rejectionOf(
  status: number,
  headers: FetchAnswer["headers"],
  { maxBytes, answersRedirects = false, unpacksGzip = false }: FetchOptions,
): string | undefined {
  if (status >= 300 && status < 400 && !answersRedirects) return "the answer is a redirect";
  if (isEncoded(headers) && !(unpacksGzip && isGzip(headers))) return "the answer is encoded";
  return Number(headers["content-length"] ?? 0) > maxBytes ? "the answer is too large" : undefined;
}

/** Whether the body has a content encoding, such as gzip. */
export function isEncoded(headers: FetchAnswer["headers"]): boolean {
  const encoding = headers["content-encoding"];
  return encoding !== undefined && encoding !== "identity";
}

// Source: RFC 9110 §8.4.1.3.
function isGzip({ "content-encoding": encoding }: FetchAnswer["headers"]): boolean {
  return typeof encoding === "string" && /^(?:x-)?gzip$/i.test(encoding.trim());
}

async function unpacked(body: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return await gunzip(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new FetchError("refused", isLarge ? "the answer is too large" : "the answer cannot be unpacked", error);
  }
}

/** Reads the whole body. Throws a FetchError when the body is larger than `maxBytes`. */
export async function readBounded(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new FetchError("refused", "the answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Turns an error of undici into a FetchError. */
export function fetchError(error: unknown): FetchError {
  if (error instanceof FetchError) return error;
  // With several addresses of one name, the errors arrive as one AggregateError.
  const inner =
    error instanceof AggregateError ? error.errors.find((one) => one instanceof FetchError) : (error as Error).cause;
  return inner instanceof FetchError ? inner : new FetchError("failed", "it could not be reached in time", error);
}

const TLS_CODES = /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO$)/;
const SAID: Readonly<Record<string, string>> = {
  ENOTFOUND: "its name has no address",
  EAI_AGAIN: "its name could not be resolved",
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "it broke off",
  UND_ERR_SOCKET: "it broke off",
  EHOSTUNREACH: "no route leads to it",
  ENETUNREACH: "no route leads to it",
  TIMEOUT: "it did not answer in time",
};
const MAX_CAUSES = 6;

/**
 * Why nothing was fetched, for people: as the message, or, where that only says that nothing came, what the network
 * said, such as a certificate that is not trusted. It contains no address, and no text of the host.
 */
export function whyNotFetched(error: FetchError): string {
  if (error.kind === "refused") return error.message;
  for (const code of codesOf(error)) {
    if (TLS_CODES.test(code)) return `its certificate or TLS is not accepted (${code})`;
    const said = SAID[code] ?? (/TIMEDOUT|TIMEOUT/.test(code) ? SAID["TIMEOUT"] : undefined);
    if (said !== undefined) return said;
  }
  return error.message;
}

function codesOf(error: unknown): string[] {
  const found: string[] = [];
  const waiting: unknown[] = [error];
  for (let seen = 0; waiting.length > 0 && seen < MAX_CAUSES; seen += 1) {
    const at = waiting.shift();
    if (!(at instanceof Error)) continue;
    const { code } = at as { code?: unknown };
    if (at.name === "TimeoutError") found.push("TIMEOUT");
    else if (typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code)) found.push(code);
    waiting.push(at.cause, ...(at instanceof AggregateError ? at.errors : []));
  }
  return found;
}
