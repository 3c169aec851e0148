import { open } from "node:fs/promises";
import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { openStreamClient, type StreamAnswer, type StreamClient } from "@moorage/kernel/lib/stream-client";
import { SourceError } from "../records/record.ts";

export interface DownloadRules {
  /** Allows loopback and private addresses, and plain http. For development and tests. */
  allowPrivateNetwork: boolean;
  dnsServers: readonly string[];
}

/** What a server said with an answer, for the next request. */
export interface Validators {
  etag: string;
  lastModified: string;
}

const MAX_REDIRECTS = 5;
/** The most bytes of a feed's source: the largest that are published have about one gigabyte. */
const MAX_DOWNLOAD_BYTES = 4 * 2 ** 30;

export function openDownloads({ allowPrivateNetwork, dnsServers }: DownloadRules): StreamClient {
  return openStreamClient({
    allowPrivateNetwork,
    dnsServers,
    connectTimeoutMs: 10_000,
    headTimeoutMs: 60_000,
    silenceTimeoutMs: 60_000,
    connections: 4,
  });
}

/**
 * Requests a URL, and follows redirects: each address is checked. Undefined for 304, and for 404 and 410 with
 * `orNothing`. Throws a SourceError without addresses that the operator did not give.
 */
export async function requestFeed(
  client: StreamClient,
  url: string,
  { signal, since, orNothing = false }: { signal: AbortSignal; since?: Validators; orNothing?: boolean },
): Promise<StreamAnswer | undefined> {
  const headers: Record<string, string> = {
    ...(since !== undefined && since.etag !== "" && { "if-none-match": since.etag }),
    ...(since !== undefined && since.lastModified !== "" && { "if-modified-since": since.lastModified }),
  };
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    let answer: StreamAnswer;
    try {
      answer = await client.request(at, { headers, signal });
    } catch (error) {
      throw asSourceError(error, url);
    }
    if (answer.status === 200) return answer;
    answer.discard();
    if (answer.status === 304 || (orNothing && [404, 410].includes(answer.status))) return undefined;
    const location = String(answer.headers["location"] ?? "");
    const next = answer.status >= 300 && answer.status < 400 ? URL.parse(location, at)?.href : undefined;
    if (next === undefined || location === "") throw new SourceError(`${url} answers ${answer.status}`);
    at = next;
  }
  throw new SourceError(`${url} redirects more than ${MAX_REDIRECTS} times`);
}

/** Writes the body to a file. Throws a SourceError when it is larger than `maxBytes` or breaks off. */
export async function saveBody(
  answer: StreamAnswer,
  file: string,
  url: string,
  maxBytes = MAX_DOWNLOAD_BYTES,
): Promise<void> {
  await using out = await open(file, "w", 0o600);
  let size = 0;
  try {
    for await (const chunk of answer.body) {
      size += chunk.length;
      if (size > maxBytes) throw new SourceError(`${url} is larger than ${maxBytes} bytes`);
      await out.writeFile(chunk);
    }
  } catch (error) {
    answer.discard();
    throw asSourceError(error, url);
  }
}

export function validatorsOf({ headers }: StreamAnswer): Validators {
  const one = (name: string): string => {
    const value = headers[name];
    return typeof value === "string" && value.length <= 200 && !/[\p{C}]/u.test(value) ? value : "";
  };
  return { etag: one("etag"), lastModified: one("last-modified") };
}

export function asSourceError(error: unknown, url: string): unknown {
  return error instanceof FetchError ? new SourceError(`${url}: ${error.message}`, { cause: error }) : error;
}
