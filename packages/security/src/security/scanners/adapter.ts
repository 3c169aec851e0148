import type { ScannerAdapter } from "@moorage/api/messages";
import type { Config } from "@moorage/kernel/config";
import { type FetchAnswer, FetchError, type FetchInit, guardedFetch } from "@moorage/kernel/lib/guarded-fetch";
import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { readMetadata, textOf } from "./metadata.ts";
import { METADATA, normalized, SCAN_REQUEST, SCAN_RESPONSE } from "./mime-types.ts";

/** The largest report that is taken, in bytes. */
export const MAX_REPORT_BYTES = 16 << 20;
const MAX_ANSWER_BYTES = 256 << 10;
const MAX_ID = 256;
const MAX_MESSAGE = 300;
const TIMEOUT_MS = 30_000;
// A large report may take its time on the way.
const REPORT_TIMEOUT_MS = 120_000;
const DEFAULT_WAIT_S = 5;
const MAX_WAIT_S = 60;

/** How an adapter is reached: below its `url`, with the value of the Authorization header, if it has one. */
export interface AdapterAddress {
  url: string;
  authorization: string;
}

/** A scan that an adapter is asked for, as the scanner adapter API has it. */
export interface AdapterRequest {
  registry: { url: string; authorization: string };
  artifact: { repository: string; digest: string; tag?: string; mime_type: string };
  enabled_capabilities: readonly { type: string; produces_mime_types: readonly string[]; parameters?: object }[];
}

/** Why an adapter gave no answer that can be used. `isFinal`: it would give none another time either. */
export class AdapterError extends Error {
  readonly isFinal: boolean;

  constructor(message: string, { isFinal, cause }: { isFinal: boolean; cause?: unknown }) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}

/** An adapter of Harbor's scanner API 1.2. All functions throw an AdapterError; its message has no address. */
export interface Adapter {
  /** What it says of itself. */
  metadata(): Promise<ScannerAdapter>;
  /** Asks for a scan. Answers the id under which the adapter has it. */
  requestScan(request: AdapterRequest): Promise<string>;
  /** The report of a scan, of a bill of materials in the format; or in how many milliseconds to ask again. */
  report(id: string, mimeType: string, sbomFormat?: string): Promise<{ waitMs: number } | { content: Buffer }>;
}

/** Opens nothing yet: each request has a connection of its own, under the rules of the guarded fetch. */
export function openAdapter(
  { url, authorization }: AdapterAddress,
  { allowPrivateNetwork, dnsServers }: Pick<Config, "allowPrivateNetwork" | "dnsServers">,
  signal?: AbortSignal,
): Adapter {
  const rules = { allowPrivateNetwork, dnsServers };
  const fetchSmall = guardedFetch({ ...rules, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES });
  const fetchReport = guardedFetch({
    ...rules,
    timeoutMs: REPORT_TIMEOUT_MS,
    maxBytes: MAX_REPORT_BYTES,
    answersRedirects: true,
  });
  const ask = async (fetch: typeof fetchSmall, path: string, init: FetchInit): Promise<FetchAnswer> => {
    const headers = { ...init.headers, ...(authorization !== "" && { authorization }) };
    try {
      return await fetch(`${url.replace(/(?<!\/)\/+$/, "")}/api/v1/${path}`, {
        ...init,
        headers,
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      throw new AdapterError(`the adapter gave no answer: ${error.message}`, {
        isFinal: error.kind === "refused",
        cause: error,
      });
    }
  };
  return {
    async metadata() {
      const answer = await ask(fetchSmall, "metadata", { headers: { accept: METADATA } });
      if (answer.status !== 200) throw unexpected("its metadata", answer);
      return reading("its metadata", () => readMetadata(answer.body));
    },
    async requestScan(request) {
      const answer = await ask(fetchSmall, "scan", {
        method: "POST",
        headers: { "content-type": SCAN_REQUEST, accept: SCAN_RESPONSE },
        body: JSON.stringify(request),
      });
      if (answer.status !== 202) throw unexpected("a request for a scan", answer);
      return reading("a request for a scan", () => {
        const document = parseJson(answer.body.toString(), 16);
        const id = isObject(document) ? document["id"] : undefined;
        if (typeof id !== "string" || id === "" || id.length > MAX_ID || !id.isWellFormed())
          throw new SyntaxError(`id: must be a text of at most ${MAX_ID} characters`);
        return id;
      });
    },
    async report(id, mimeType, sbomFormat) {
      const query = sbomFormat === undefined ? "" : `?sbom_media_type=${encodeURIComponent(sbomFormat)}`;
      const path = `scan/${encodeURIComponent(id)}/report${query}`;
      const { status, headers, body } = await ask(fetchReport, path, { headers: { accept: mimeType } });
      if (status === 302) return { waitMs: waitMs(headers["refresh-after"]) };
      // An adapter that was started anew may not know the scan any more, and is asked for another.
      if (status === 404)
        throw new AdapterError("the adapter does not know the scan any more (404)", { isFinal: false });
      if (status !== 200) throw unexpected("a report", { status, body });
      const type = String(headers["content-type"] ?? "");
      if (normalized(type) !== normalized(mimeType))
        throw new AdapterError(`the report has the media type ${textOf(type) || "of nothing"}, not ${mimeType}`, {
          isFinal: true,
        });
      return { content: body };
    },
  };
}

function waitMs(header: string | string[] | undefined): number {
  const text = typeof header === "string" ? header.trim() : "";
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : DEFAULT_WAIT_S;
  return Math.min(Math.max(seconds, 1), MAX_WAIT_S) * 1000;
}

/** Statuses after which the same request may succeed. Source: RFC 9110, RFC 6585. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

function unexpected(what: string, { status, body }: Pick<FetchAnswer, "status" | "body">): AdapterError {
  const message = messageIn(body);
  const text = `the adapter answered ${status} where it was asked for ${what}${message === "" ? "" : `: ${message}`}`;
  // 501: the adapter has no such capability.
  const isFinal = status === 501 || (status < 500 && !TEMPORARY.has(status));
  return new AdapterError(text, { isFinal });
}

/** What the adapter says about an error. Source: scanner adapter API 1.2, ErrorResponse. */
function messageIn(body: Buffer): string {
  try {
    const document = parseJson(body.subarray(0, MAX_ANSWER_BYTES).toString(), 16);
    const error = isObject(document) ? document["error"] : undefined;
    return isObject(error) ? textOf(error["message"], MAX_MESSAGE) : "";
  } catch {
    return "";
  }
}

function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    throw new AdapterError(`the adapter's answer to ${what} cannot be read: ${textOf(error.message, MAX_MESSAGE)}`, {
      isFinal: true,
      cause: error,
    });
  }
}
