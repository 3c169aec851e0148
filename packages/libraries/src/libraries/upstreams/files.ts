import type { StoredBlob } from "@moorage/kernel/blobs";
import { MoorageError } from "@moorage/kernel/errors";
import { readBounded } from "@moorage/kernel/lib/guarded-fetch";
import { dropFile, keepFiles, receiveFile, type ReceivedFile } from "../http/receive.ts";
import type { Asking } from "./ask.ts";
import type { createUpstreamClient, UpstreamAnswer } from "./client.ts";
import type { UpstreamDeps } from "./deps.ts";
import { asFailure, failureAnswer, UpstreamFailure } from "./errors.ts";
import type { OnceRunner } from "./once.ts";
import type { UpstreamSettings } from "./settings.ts";

/** The sums that a file must have, in hex; what is left out is not known. */
export type ExpectedSums = Partial<Pick<ReceivedFile, "md5" | "sha1" | "sha256" | "sha512">>;

/** A file of an upstream. */
export interface WantedFile {
  /** Names it in the upstream, such as `left-pad/left-pad-1.3.0.tgz`: it is fetched once, whoever asks meanwhile. */
  key: string;
  /** Absolute. */
  url: string;
  /** The header `accept`. Defaults to any. */
  accept?: string;
  /** A function is called once, by whoever fetches it. */
  expected: ExpectedSums | (() => Promise<ExpectedSums>);
  /** Its size, where the upstream says it. */
  sizeBytes?: number | undefined;
  /** Defaults to the setting MOORAGE_MAX_LIBRARY_FILE_BYTES, which also is the most. */
  maxBytes?: number;
  /** Whether it is kept by now: by another process, or in the moment before this one was asked. */
  isKept(): Promise<boolean>;
  /**
   * Writes down the file, which is in the blob store by then with the right sums, by a command such as
   * `keepFetchedFile`. It answers the generation to retain, as for `keepFiles`.
   */
  keep(
    stored: StoredBlob,
    received: ReceivedFile,
    headers: UpstreamAnswer["headers"],
  ): Promise<{ generations: readonly string[] }>;
}

/** Files of upstreams: each is fetched once, checked, and kept. */
export interface Files {
  /**
   * Fetches the file and has it kept. False when the upstream does not have it. Throws 502 when it is not what it
   * should be, of which nothing stays, and 503 when the upstream does not answer. Not to be called in a transaction.
   */
  fetch(settings: UpstreamSettings, wanted: WantedFile): Promise<boolean>;
  /**
   * The bytes of something small, such as a file of sums, of which nothing is kept. Undefined when the upstream does
   * not have it. Throws as `fetch` does.
   */
  small(settings: UpstreamSettings, url: string, maxBytes: number): Promise<SmallFile | undefined>;
}

/** Something small of an upstream. */
interface SmallFile {
  headers: UpstreamAnswer["headers"];
  body: Buffer;
}

const SUMS = ["sha512", "sha256", "sha1", "md5"] as const;
const MISSING_MS = 60_000;
const MAX_MISSING = 20_000;

export function createFiles(
  deps: UpstreamDeps,
  request: ReturnType<typeof createUpstreamClient>,
  asking: Asking,
  once: OnceRunner,
  closing: AbortSignal,
): Files {
  const { config, metrics, clock, blobs } = deps;
  const missing = missingFiles(clock);

  const fetch = async (settings: UpstreamSettings, wanted: WantedFile, expected: ExpectedSums): Promise<boolean> => {
    const { url, accept = "*/*", sizeBytes, keep } = wanted;
    const signal = AbortSignal.any([closing, AbortSignal.timeout(config.upstreamFileTimeoutMs)]);
    const answer = await request(settings, { url, headers: { accept }, signal });
    if (answer.status !== 200) {
      answer.discard();
      if (answer.status === 304) throw new UpstreamFailure("wrong", "it answered 304 to the first request");
      return false;
    }
    const maxBytes = Math.min(wanted.maxBytes ?? Number.POSITIVE_INFINITY, config.maxLibraryFileBytes);
    if (Number(answer.headers["content-length"] ?? 0) > maxBytes) {
      answer.discard();
      throw new UpstreamFailure("wrong", `its file ${wanted.key} has more than ${maxBytes} bytes`);
    }
    const received = await receiveFile(blobs, answer.body, { maxBytes }).catch((error: unknown) => {
      answer.discard();
      // What `receiveFile` itself throws is that there are more bytes.
      throw error instanceof MoorageError && error.details.metadata?.["httpStatus"] === "413"
        ? new UpstreamFailure("wrong", `its file ${wanted.key} has more than ${maxBytes} bytes`)
        : asFailure(error);
    });
    metrics.received(settings.ecosystem.key, received.size);
    const fault = faultOf(received, expected, sizeBytes);
    if (fault !== undefined) {
      await dropFile(blobs, received);
      throw new UpstreamFailure("wrong", `its file ${wanted.key} ${fault}`);
    }
    await keepFiles(deps, [received], async ([stored]) => {
      if (stored === undefined) throw new Error("the file did not become a blob");
      return await keep(stored, received, answer.headers);
    });
    return true;
  };

  return {
    async fetch(settings, wanted) {
      const id = `file ${settings.uid} ${settings.url} ${wanted.key}`;
      if (missing.has(id)) return false;
      try {
        const isThere = await once.run<boolean>({
          id,
          limitMs: config.upstreamFileTimeoutMs,
          found: async () => ((await wanted.isKept()) ? true : undefined),
          async work() {
            const { expected } = wanted;
            // Before the file has its turn: what is asked for its sums takes turns, too.
            const sums = typeof expected === "function" ? await expected() : expected;
            return await asking.ask(settings, "file", () => fetch(settings, wanted, sums));
          },
        });
        if (!isThere) missing.add(id);
        return isThere;
      } catch (error) {
        throw error instanceof UpstreamFailure ? failureAnswer(error) : error;
      }
    },
    async small(settings, url, maxBytes) {
      const read = async (): Promise<SmallFile | undefined> => {
        const signal = AbortSignal.any([closing, AbortSignal.timeout(config.upstreamTimeoutMs)]);
        const answer = await request(settings, { url, headers: { accept: "*/*" }, signal });
        if (answer.status !== 200) return void answer.discard();
        try {
          return { headers: answer.headers, body: await readBounded(answer.body, maxBytes) };
        } catch (error) {
          throw asFailure(error);
        }
      };
      try {
        return await asking.ask(settings, "file", read);
      } catch (error) {
        throw error instanceof UpstreamFailure ? failureAnswer(error) : error;
      }
    },
  };
}

/** What is wrong with a file; undefined when nothing is. */
function faultOf(received: ReceivedFile, expected: ExpectedSums, sizeBytes: number | undefined): string | undefined {
  if (sizeBytes !== undefined && sizeBytes !== received.size)
    return `has ${received.size} bytes, and should have ${sizeBytes}`;
  const wrong = SUMS.find((sum) => expected[sum] !== undefined && expected[sum]?.toLowerCase() !== received[sum]);
  return wrong && `has another ${wrong} than the upstream says`;
}

/** Files that an upstream did not have a moment ago. */
function missingFiles(clock: UpstreamDeps["clock"]): { has(id: string): boolean; add(id: string): void } {
  const untilMs = new Map<string, number>();
  return {
    has(id) {
      const until = untilMs.get(id);
      if (until !== undefined && clock.monotonicMs() < until) return true;
      untilMs.delete(id);
      return false;
    },
    add(id) {
      untilMs.set(id, clock.monotonicMs() + MISSING_MS);
      const [oldest] = untilMs.keys();
      if (untilMs.size > MAX_MISSING && oldest !== undefined) untilMs.delete(oldest);
    },
  };
}
