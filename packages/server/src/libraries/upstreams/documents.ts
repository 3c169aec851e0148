import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { systemCallNow } from "../../core/system-call.ts";
import type { Awaitable } from "../../lib/awaitable.ts";
import { FetchError, readBounded } from "../../lib/guarded-fetch.ts";
import { gzipped } from "../../lib/gzip.ts";
import { createLru } from "../../lib/lru.ts";
import { statement } from "../../store/index.ts";
import type { Asking } from "./asking.ts";
import type { createUpstreamClient, UpstreamAnswer } from "./client.ts";
import { checkDocument, keepDocument } from "./commands.ts";
import type { UpstreamDeps } from "./deps.ts";
import { asFailure, failureAnswer, UpstreamFailure } from "./errors.ts";
import type { OnceRunner } from "./once.ts";
import type { UpstreamSettings } from "./settings.ts";

/** What the parsing of a document gets beside its bytes. */
export interface ParseContext<T> {
  headers: UpstreamAnswer["headers"];
  /** The URL that answered, after redirects: links in the document are relative to it. */
  url: string;
  /** The time of the answer, in milliseconds since 1970. */
  nowMs: number;
  /** What the document said before; undefined at first. */
  previous: T | undefined;
}

/** How an ecosystem reads a document of its upstreams. `T` is plain data: it is kept as JSON. */
export interface DocumentAdapter<T> {
  /** Absolute. */
  url: string;
  /** The header `accept`. */
  accept: string;
  /** Defaults to the setting MOORAGE_UPSTREAM_MAX_DOCUMENT_BYTES, which also is the most. */
  maxBytes?: number;
  /** For how long it is good, in milliseconds. Defaults to the setting MOORAGE_UPSTREAM_TTL. */
  freshMs?: number;
  /**
   * What is kept of the document: only what is served. What it throws counts as a bad answer of the upstream: its
   * message is the reason that people read.
   */
  parse(bytes: Buffer, context: ParseContext<T>): Awaitable<T>;
}

/** A document of an upstream as it is kept. */
export interface UpstreamDocument<T> {
  /** Changes with its content: a part of the key of what is rendered from it. */
  revision: string;
  /** When this content came, in milliseconds since 1970. */
  fetchedMs: number;
  /** Until when nobody is asked whether it has changed, in milliseconds since 1970; in the past when asking fails. */
  freshUntilMs: number;
  /** Its content: from memory, or read and unpacked. */
  value(): Promise<T>;
}

/** What upstreams say, kept and asked for again after a while. */
export interface Documents {
  /**
   * The document with this name, such as that of a package, as the upstream had it within the last minutes; what is
   * kept when the upstream does not answer in time or is wrong. Undefined when the upstream has none. Throws 503 or 502
   * when there is neither an answer nor anything kept. Not to be called in a transaction.
   */
  of<T>(
    settings: UpstreamSettings,
    name: string,
    adapter: DocumentAdapter<T>,
  ): Promise<UpstreamDocument<T> | undefined>;
}

/** What is known of a document without its content. */
interface Known {
  isMissing: boolean;
  revision: string;
  etag: string;
  lastModified: string;
  fetchedMs: number;
  /** Until when nobody is asked, in milliseconds since 1970. */
  freshUntilMs: number;
}

type KnownRow = {
  status: number;
  revision: string;
  etag: string;
  last_modified: string;
  fetch_time: number;
  check_time: number;
};
const selectKnown = statement<KnownRow>(
  "select status, revision, etag, last_modified, fetch_time, check_time from upstream_documents where upstream = ? and name = ? and url = ?",
  ["text", "text", "text"],
);
const selectContent = statement<{ content: Uint8Array; revision: string; size: number }>(
  "select content, revision, size from upstream_documents where upstream = ? and name = ? and url = ?",
  ["text", "text", "text"],
);

/** That there is nothing is believed for a shorter time: it may just be published. */
const MISSING_MS = 60_000;
/** After a failure, what is kept is served for so long without another attempt. */
const RETRY_MS = 10_000;
/** How long a client waits for an upstream whose document is kept. */
const PATIENCE_MS = 3_000;
const MAX_NAME_CHARS = 700;
const MAX_KNOWN = 50_000;
/** What is kept is read once after each start: that it is written fast counts more than its size. */
const GZIP_LEVEL = 1;
/** Of the JSON; as objects it is some times as much. */
const MAX_VALUE_BYTES = 32 * 1024 * 1024;

const decompress = promisify(gunzip);

export function createDocuments(
  deps: UpstreamDeps,
  request: ReturnType<typeof createUpstreamClient>,
  asking: Asking,
  once: OnceRunner,
  closing: AbortSignal,
): Documents {
  const { transactor, clock, config, metrics } = deps;
  const known = createLru<string, Known>(MAX_KNOWN);
  const values = createLru<string, { value: unknown; size: number }>(MAX_VALUE_BYTES, ({ size }) => size);

  const idOf = ({ uid, url }: UpstreamSettings, name: string): string => `${uid} ${url} ${name}`;
  const read = async (settings: UpstreamSettings, name: string, freshMs: number): Promise<Known | undefined> => {
    const [row] = await transactor.read(systemCallNow(clock), ({ tx }) =>
      selectKnown(tx, settings.uid, name, settings.url),
    );
    if (row === undefined) return undefined;
    const isMissing = row.status !== 200;
    return {
      isMissing,
      revision: row.revision,
      etag: row.etag,
      lastModified: row.last_modified,
      fetchedMs: row.fetch_time,
      freshUntilMs: row.check_time + (isMissing ? MISSING_MS : freshMs),
    };
  };
  const unpacking = new Map<string, Promise<unknown>>();
  const valueOf = async <T>(settings: UpstreamSettings, name: string, revision: string): Promise<T> => {
    const id = `${idOf(settings, name)} ${revision}`;
    const found = values.get(id);
    if (found !== undefined) return found.value as T;
    // One that is too large to be in memory is unpacked once for all who want it at the time.
    const running = unpacking.get(id) ?? unpacked(settings, name).finally(() => unpacking.delete(id));
    unpacking.set(id, running);
    return (await running) as T;
  };
  const unpacked = async (settings: UpstreamSettings, name: string): Promise<unknown> => {
    const [row] = await transactor.read(systemCallNow(clock), ({ tx }) =>
      selectContent(tx, settings.uid, name, settings.url),
    );
    if (row === undefined) throw failureAnswer(new UpstreamFailure("unreachable", "what it said was just removed"));
    // It is JSON that an adapter made.
    const value: unknown = JSON.parse((await decompress(row.content)).toString());
    values.set(`${idOf(settings, name)} ${row.revision}`, { value, size: row.size });
    return value;
  };
  const shown = <T>(settings: UpstreamSettings, name: string, found: Known): UpstreamDocument<T> | undefined =>
    found.isMissing
      ? undefined
      : {
          revision: found.revision,
          fetchedMs: found.fetchedMs,
          freshUntilMs: found.freshUntilMs,
          value: () => valueOf<T>(settings, name, found.revision),
        };

  /** Asks the upstream, and keeps what it says. */
  const fetch = async <T>(
    settings: UpstreamSettings,
    name: string,
    adapter: DocumentAdapter<T>,
    kept: Known | undefined,
  ): Promise<Known> => {
    const { uid: upstream, url } = settings;
    const freshMs = adapter.freshMs ?? config.upstreamTtlMs;
    const headers: Record<string, string> = { accept: adapter.accept };
    if (kept !== undefined && !kept.isMissing) {
      if (kept.etag !== "") headers["if-none-match"] = kept.etag;
      if (kept.lastModified !== "") headers["if-modified-since"] = kept.lastModified;
    }
    const signal = AbortSignal.any([closing, AbortSignal.timeout(config.upstreamTimeoutMs)]);
    const answer = await request(settings, { url: adapter.url, headers, signal });
    if (answer.status !== 200) {
      answer.discard();
      const isMissing = answer.status !== 304;
      if (!isMissing && kept === undefined) throw new UpstreamFailure("wrong", "it answered 304 to the first request");
      if (kept !== undefined)
        await transactor.write(checkDocument, systemCallNow(clock), { upstream, name, isMissing });
      const freshUntilMs = clock.nowMs() + (isMissing ? MISSING_MS : freshMs);
      return kept === undefined || isMissing
        ? { isMissing, revision: "", etag: "", lastModified: "", fetchedMs: clock.nowMs(), freshUntilMs }
        : { ...kept, freshUntilMs };
    }
    const maxBytes = Math.min(adapter.maxBytes ?? Number.POSITIVE_INFINITY, config.upstreamMaxDocumentBytes);
    if (Number(answer.headers["content-length"] ?? 0) > maxBytes) {
      answer.discard();
      throw new UpstreamFailure("wrong", `its document of ${name} has more than ${maxBytes} bytes`);
    }
    const bytes = await readBounded(answer.body, maxBytes).catch((error: unknown) => {
      answer.discard();
      const isLarge = error instanceof FetchError && error.kind === "refused";
      throw isLarge
        ? new UpstreamFailure("wrong", `its document of ${name} has more than ${maxBytes} bytes`)
        : asFailure(error);
    });
    metrics.received(settings.ecosystem.key, bytes.length);
    const nowMs = clock.nowMs();
    const previous = kept === undefined || kept.isMissing ? undefined : await valueOf<T>(settings, name, kept.revision);
    let value: T;
    try {
      value = await adapter.parse(bytes, { headers: answer.headers, url: answer.url, nowMs, previous });
    } catch (error) {
      throw new UpstreamFailure(
        "wrong",
        `its document of ${name}: ${error instanceof Error ? error.message : "is none"}`,
        error,
      );
    }
    const text = Buffer.from(JSON.stringify(value));
    const revision = createHash("sha256").update(text).digest("base64url").slice(0, 22);
    const [etag, lastModified] = [headerOf(answer, "etag"), headerOf(answer, "last-modified")];
    await transactor.write(
      keepDocument,
      { ...systemCallNow(clock), nowMs },
      {
        upstream,
        name,
        url,
        revision,
        etag,
        lastModified,
        size: text.length,
        content: await gzipped(text, GZIP_LEVEL),
      },
    );
    values.set(`${idOf(settings, name)} ${revision}`, { value, size: text.length });
    return { isMissing: false, revision, etag, lastModified, fetchedMs: nowMs, freshUntilMs: nowMs + freshMs };
  };

  return {
    async of(settings, name, adapter) {
      if (name.length > MAX_NAME_CHARS || name.includes("\0")) return undefined;
      const id = idOf(settings, name);
      const freshMs = adapter.freshMs ?? config.upstreamTtlMs;
      const isFresh = ({ freshUntilMs }: Known): boolean => clock.nowMs() < freshUntilMs;
      let kept = known.get(id);
      if (kept === undefined || !isFresh(kept)) {
        const stored = await read(settings, name, freshMs);
        if (stored !== undefined) {
          // After a failure nobody is asked again for a moment, which only this process knows.
          const restMs = kept?.revision === stored.revision ? kept.freshUntilMs : 0;
          kept = { ...stored, freshUntilMs: Math.max(stored.freshUntilMs, restMs) };
          known.set(id, kept);
        }
      }
      if (kept !== undefined && isFresh(kept)) return shown(settings, name, kept);
      const before = kept;
      const isKept = before !== undefined && !before.isMissing;
      const asked = once.run<Known>({
        id: `document ${id}`,
        limitMs: config.upstreamTimeoutMs,
        found: async () => {
          const stored = await read(settings, name, freshMs);
          return stored !== undefined && isFresh(stored) ? stored : undefined;
        },
        work: () => asking.ask(settings, "document", () => fetch(settings, name, adapter, before)),
      });
      const learned = asked.then(
        (found) => {
          known.set(id, found);
          return found;
        },
        (error: unknown) => {
          if (!isKept || !(error instanceof UpstreamFailure)) throw error;
          const failed = { ...before, freshUntilMs: clock.nowMs() + RETRY_MS };
          known.set(id, failed);
          return failed;
        },
      );
      try {
        return shown(settings, name, isKept ? await soonOr(learned, before) : await learned);
      } catch (error) {
        throw error instanceof UpstreamFailure ? failureAnswer(error) : error;
      }
    },
  };
}

/** The answer, or what is kept when it is not there soon: then it goes on being waited for, for the next request. */
async function soonOr(answer: Promise<Known>, kept: Known): Promise<Known> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Known>((resolve) => {
    timer = setTimeout(() => resolve(kept), PATIENCE_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    // What comes of it later is known by then, or logged.
    answer.catch(() => {});
  }
}

function headerOf({ headers }: UpstreamAnswer, name: string): string {
  const value = headers[name];
  return typeof value === "string" && value.length <= 1_000 ? value : "";
}
