import { createHash } from "node:crypto";
import { gzipped } from "../../lib/gzip.ts";
import { createLru } from "../../lib/lru.ts";
import type { BlockedVersion } from "../policies/gate.ts";

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
  plain: Buffer;
  gzipped: Buffer;
}

const CACHE_BYTES = 64 * 1024 * 1024;
const rendered = createLru<string, Rendered>(CACHE_BYTES, ({ plain, gzipped }) => plain.length + gzipped.length);
/** Within a tenth of the smallest for what npm and PyPI list, in two thirds of the time. */
const GZIP_LEVEL = 4;
const underWay = new Map<string, Promise<Rendered>>();

/**
 * The document with this key, from memory or as `make` writes it. The key has the artifact's revision, which every
 * change of the artifact ends: each process makes a document once, whatever the number of versions and of requests at
 * the time. What `make` throws is of its own request alone. `nowMs`: the time of the request, of documents that are
 * good until some time.
 */
export async function renderedAs(key: string, make: () => Promise<string | Made>, nowMs = 0): Promise<Rendered> {
  const isGood = ({ untilMs }: Rendered): boolean => untilMs === undefined || nowMs < untilMs;
  const known = rendered.get(key);
  if (known !== undefined && isGood(known)) return known;
  // A large one takes some times its size while it is made: not for each of those who wait for it.
  const running = underWay.get(key);
  const shared = running && (await running.catch(() => undefined));
  if (shared !== undefined && isGood(shared)) return shared;
  const started = render(key, make).finally(() => {
    if (underWay.get(key) === started) underWay.delete(key);
  });
  underWay.set(key, started);
  return await started;
}

async function render(key: string, make: () => Promise<string | Made>): Promise<Rendered> {
  const made = await make();
  const { text, ...rest }: Made = typeof made === "string" ? { text: made } : made;
  const plain = Buffer.from(text);
  const document = {
    ...rest,
    plain,
    gzipped: await gzipped(plain, GZIP_LEVEL),
    etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`,
  };
  rendered.set(key, document);
  return document;
}
