import { systemCallNow } from "@moorage/kernel/core/system-call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { FetchError } from "@moorage/kernel/lib/guarded-fetch";
import { createLru } from "@moorage/kernel/lib/lru";
import { INLINE_BYTES, UNREADABLE_MS } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";
import type { Asking } from "./ask.ts";
import type { createUpstreamClient, UpstreamAnswer } from "./client.ts";
import { checkDocument } from "./commands.ts";
import type { UpstreamDeps } from "./deps.ts";
import { asFailure, failureAnswer, UpstreamFailure } from "./errors.ts";
import {
  createKeptDocuments,
  idOf,
  type Known,
  MISSING_MS,
  type Place,
  type UpstreamDocument,
} from "./kept-documents.ts";
import type { AnyKind, KindArgs } from "../ecosystem/document-kind.ts";
import type { OnceRunner } from "./once.ts";
import { type HeldBody, readBody } from "./read-body.ts";
import type { ArrivedDocument, ReadDocument } from "./read-document.ts";
import type { UpstreamSettings } from "./settings.ts";
import { readArrived } from "./tasks.ts";

export type { UpstreamDocument } from "./kept-documents.ts";

/** A document that is wanted of an upstream. */
export interface WantedDocument<K extends AnyKind> {
  kind: K;
  /** What it is read by, beside its bytes. */
  args: KindArgs<K>;
  /** Absolute. */
  url: string;
  /** The header `accept`. */
  accept: string;
  /** By how much longer it takes to read so many bytes than of JSON. Defaults to 1. */
  weight?: number;
  /** Defaults to the setting MOORAGE_UPSTREAM_MAX_DOCUMENT_BYTES, which also is the most. */
  maxBytes?: number;
  /** For how long it is good, in milliseconds. Defaults to the setting MOORAGE_UPSTREAM_TTL. */
  freshMs?: number;
}

/** What upstreams say, kept and asked for again after a while. */
export interface Documents {
  /**
   * The document with this name, such as that of a package, as the upstream had it within the last minutes; what is
   * kept when the upstream does not answer in time or is wrong. Undefined when the upstream has none. Throws 503 or 502
   * when there is neither an answer nor anything kept. Not to be called in a transaction.
   */
  of<K extends AnyKind>(
    settings: UpstreamSettings,
    name: string,
    wanted: WantedDocument<K>,
  ): Promise<UpstreamDocument<K> | undefined>;
}

/** After a failure, what is kept is served for so long without another attempt. */
const RETRY_MS = 10_000;
/** How long a client waits for an upstream whose document is kept. */
const PATIENCE_MS = 3_000;
const MAX_NAME_CHARS = 700;
const MAX_KNOWN = 50_000;
const MAX_UNREADABLE = 10_000;
const NOTHING = { isMissing: true, revision: "", etag: "", lastModified: "", size: 0, isDivided: false } as const;

export function createDocuments(
  deps: UpstreamDeps,
  request: ReturnType<typeof createUpstreamClient>,
  asking: Asking,
  once: OnceRunner,
  closing: AbortSignal,
): Documents {
  const { transactor, clock, config, metrics, reading } = deps;
  const documents = createKeptDocuments(deps, once);
  const known = createLru<string, Known>(MAX_KNOWN);
  const unreadable = createLru<string, { failure: UpstreamFailure; untilMs: number }>(MAX_UNREADABLE);

  /** Asks the upstream, and keeps what it says. */
  const fetch = async <K extends AnyKind>(
    place: Place<K>,
    wanted: WantedDocument<K>,
    kept: Known | undefined,
  ): Promise<Known> => {
    const { settings, name } = place;
    const freshMs = wanted.freshMs ?? config.upstreamTtlMs;
    const headers: Record<string, string> = { accept: wanted.accept };
    if (kept !== undefined && !kept.isMissing) {
      if (kept.etag !== "") headers["if-none-match"] = kept.etag;
      if (kept.lastModified !== "") headers["if-modified-since"] = kept.lastModified;
    }
    const signal = AbortSignal.any([closing, AbortSignal.timeout(config.upstreamTimeoutMs)]);
    const answer = await request(settings, { url: wanted.url, headers, signal });
    if (answer.status !== 200) {
      answer.discard();
      const isMissing = answer.status !== 304;
      if (!isMissing && kept === undefined) throw new UpstreamFailure("wrong", "it answered 304 to the first request");
      if (kept !== undefined)
        await transactor.write(checkDocument, systemCallNow(clock), { upstream: settings.uid, name, isMissing });
      const freshUntilMs = clock.nowMs() + (isMissing ? MISSING_MS : freshMs);
      return kept === undefined || isMissing
        ? { ...NOTHING, fetchedMs: clock.nowMs(), freshUntilMs }
        : { ...kept, freshUntilMs };
    }
    const { pieces, size, release } = await bodyOf(answer, place, wanted);
    try {
      metrics.received(settings.ecosystem.key, size);
      const nowMs = clock.nowMs();
      const before = kept === undefined || kept.isMissing ? undefined : kept;

      const handed = await reading.handOver(pieces);
      const read = await readAs(place, Math.max(size * (wanted.weight ?? 1), before?.size ?? 0), async () => ({
        kind: place.kind.name,
        args: wanted.args,
        bytes: handed.bytes,
        headers: headersOf(answer),
        url: answer.url,
        nowMs,
        previous: await (before && documents.shown(place, before))?.input(),
      })).finally(handed.release);
      return await documents.keep(place, read, {
        etag: headerOf(answer, "etag"),
        lastModified: headerOf(answer, "last-modified"),
        fetchedMs: nowMs,
        freshUntilMs: nowMs + freshMs,
        wasDivided: before?.isDivided === true,
      });
    } catch (failure) {
      if (failure instanceof UpstreamFailure && size > INLINE_BYTES)
        unreadable.set(idOf(place), { failure, untilMs: clock.monotonicMs() + UNREADABLE_MS });
      throw failure;
    } finally {
      release();
    }
  };
  const bodyOf = async (
    answer: UpstreamAnswer,
    { name, settings }: Place<AnyKind>,
    wanted: WantedDocument<AnyKind>,
  ): Promise<HeldBody> => {
    const maxBytes = Math.min(wanted.maxBytes ?? Number.POSITIVE_INFINITY, config.upstreamMaxDocumentBytes);
    try {
      if (Number(answer.headers["content-length"] ?? 0) > maxBytes)
        throw new FetchError("refused", "the answer is too large");
      return await readBody(answer, maxBytes, reading, settings.group);
    } catch (error) {
      answer.discard();
      const isLarge = error instanceof FetchError && error.kind === "refused";
      throw isLarge
        ? new UpstreamFailure("wrong", `its document of ${name} has more than ${maxBytes} bytes`)
        : asFailure(error);
    }
  };
  /** What cannot be read of a document is wrong with its upstream. */
  const readAs = async (
    { name }: Place<AnyKind>,
    bytes: number,
    input: () => Promise<ArrivedDocument>,
  ): Promise<ReadDocument> => {
    try {
      return await reading.run(readArrived, input, bytes);
    } catch (error) {
      if (error instanceof MoorageError && !(error instanceof ReadingError)) throw error;
      const reason = error instanceof ReadingError ? error.fault : error instanceof Error ? error.message : "is none";
      throw new UpstreamFailure("wrong", `its document of ${name}: ${reason}`, error);
    }
  };

  return {
    async of<K extends AnyKind>(settings: UpstreamSettings, name: string, wanted: WantedDocument<K>) {
      if (name.length > MAX_NAME_CHARS || /[\0\t\n]/.test(name)) return undefined;
      const place = { settings, name, kind: wanted.kind };
      const id = idOf(place);
      const freshMs = wanted.freshMs ?? config.upstreamTtlMs;
      const isFresh = ({ freshUntilMs }: Known): boolean => clock.nowMs() < freshUntilMs;
      let kept = known.get(id);
      if (kept === undefined || !isFresh(kept)) {
        const stored = await documents.find(place, freshMs);
        if (stored !== undefined) {
          // After a failure nobody is asked again for a moment, which only this process knows.
          const restMs = kept?.revision === stored.revision ? kept.freshUntilMs : 0;
          kept = { ...stored, freshUntilMs: Math.max(stored.freshUntilMs, restMs) };
          known.set(id, kept);
        }
      }
      if (kept !== undefined && isFresh(kept)) return documents.shown(place, kept);
      const before = kept;
      const isKept = before !== undefined && !before.isMissing;
      const failed = unreadable.get(id);
      if (!isKept && failed !== undefined && clock.monotonicMs() < failed.untilMs) throw failureAnswer(failed.failure);
      const asked = once.run<Known>({
        id: `document ${id}`,
        limitMs: config.upstreamTimeoutMs,
        found: async () => {
          const stored = await documents.find(place, freshMs);
          return stored !== undefined && isFresh(stored) ? stored : undefined;
        },
        work: () => asking.ask(settings, "document", () => fetch(place, wanted, before)),
      });
      const learned = asked.then(
        (found) => {
          known.set(id, found);
          return found;
        },
        (error: unknown) => {
          const isBusy = error instanceof MoorageError && error.code === Code.Unavailable;
          if (!isKept || !(error instanceof UpstreamFailure || isBusy)) throw error;
          const late = { ...before, freshUntilMs: clock.nowMs() + RETRY_MS };
          known.set(id, late);
          return late;
        },
      );
      try {
        return documents.shown(place, isKept ? await soonOr(learned, before) : await learned);
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

function headersOf(answer: UpstreamAnswer): ArrivedDocument["headers"] {
  return { "content-type": headerOf(answer, "content-type"), "last-modified": headerOf(answer, "last-modified") };
}
