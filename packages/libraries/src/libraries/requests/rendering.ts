import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { gzipped } from "@moorage/kernel/lib/gzip";
import { createLru } from "@moorage/kernel/lib/lru";
import type { BlockedVersion } from "../policies/judge.ts";
import { UNREADABLE_MS } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";

/** A document before it is kept. */
export interface Made {
  text: string;
  /** From when on it is made anew, in milliseconds since 1970: a hidden version opens then. Defaults to never. */
  untilMs?: number | undefined;
  /** The version that would be its latest, were it not blocked: it is noted with each request. Defaults to none. */
  blocked?: BlockedVersion | undefined;
}

/** A document as it is sent. */
export interface Rendered extends Omit<Made, "text"> {
  etag: string;
  /** Undefined of a large one, which is unpacked as it is sent. */
  plain: Uint8Array | undefined;
  plainBytes: number;
  gzipped: Uint8Array;
}

/** Small documents are kept beside large ones, so that none of these drives many of those out. */
const SMALL_BYTES = 256 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;
const weightOf = ({ plain, gzipped }: Rendered): number => (plain?.length ?? 0) + gzipped.length;
const small = createLru<string, Rendered>(CACHE_BYTES, weightOf);
const large = createLru<string, Rendered>(CACHE_BYTES, weightOf);
/** Within a tenth of the smallest for what npm and PyPI list, in two thirds of the time. */
const GZIP_LEVEL = 4;
const underWay = new Map<string, Promise<Rendered>>();
const MAX_UNREADABLE = 1_000;
const unreadable = createLru<string, { error: ReadingError; untilMs: number }>(MAX_UNREADABLE);

/**
 * The document with this key, from memory or as `make` writes it. The key has the artifact's revision, which every
 * change of the artifact ends: each process makes a document once, whatever the number of versions and of requests at
 * the time. What `make` throws is of its own request alone, but for a ReadingError, which all get for a while. `nowMs`:
 * the time of the request, of documents that are good until some time.
 */
export async function renderedAs(
  key: string,
  make: () => Promise<string | Made | Rendered>,
  nowMs = 0,
): Promise<Rendered> {
  const isGood = ({ untilMs }: Rendered): boolean => untilMs === undefined || nowMs < untilMs;
  const known = small.get(key) ?? large.get(key);
  if (known !== undefined && isGood(known)) return known;
  // A large one takes some times its size while it is made: not for each of those who wait for it.
  const running = underWay.get(key);
  const shared = running && (await running.catch(() => undefined));
  if (shared !== undefined && isGood(shared)) return shared;
  const failed = unreadable.get(key);
  if (failed !== undefined && performance.now() < failed.untilMs) throw failed.error;
  const started = render(key, make).finally(() => {
    if (underWay.get(key) === started) underWay.delete(key);
  });
  underWay.set(key, started);
  return await started;
}

async function render(key: string, make: () => Promise<string | Made | Rendered>): Promise<Rendered> {
  try {
    const made = await make();
    const document =
      typeof made === "string" ? await packed({ text: made }) : "text" in made ? await packed(made) : made;
    (weightOf(document) > SMALL_BYTES ? large : small).set(key, document);
    return document;
  } catch (error) {
    if (error instanceof ReadingError) unreadable.set(key, { error, untilMs: performance.now() + UNREADABLE_MS });
    throw error;
  }
}

/** The form in which a document is kept and sent. */
export async function packed({ text, ...rest }: Made): Promise<Rendered> {
  const plain = Buffer.from(text);
  return {
    ...rest,
    plain: plain.length > SMALL_BYTES ? undefined : plain,
    plainBytes: plain.length,
    gzipped: await gzipped(plain, GZIP_LEVEL),
    etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`,
  };
}

const unpack = promisify(gunzip);

/** The whole text of a document that is known to be small as a text. */
export async function wholeText({ plain, gzipped: bytes }: Rendered): Promise<string> {
  return Buffer.from(plain ?? (await unpack(bytes))).toString();
}
