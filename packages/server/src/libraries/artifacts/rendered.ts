import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
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
const compress = promisify(gzip);

/**
 * The document with this key, from memory or as `make` writes it. The key has the artifact's revision, which every
 * change of the artifact ends: each process makes a document once, whatever the number of versions. `nowMs`: the time
 * of the request, of documents that are good until some time.
 */
export async function renderedAs(key: string, make: () => Promise<string | Made>, nowMs = 0): Promise<Rendered> {
  const known = rendered.get(key);
  if (known !== undefined && (known.untilMs === undefined || nowMs < known.untilMs)) return known;
  const made = await make();
  const { text, ...rest }: Made = typeof made === "string" ? { text: made } : made;
  const plain = Buffer.from(text);
  const document = {
    ...rest,
    plain,
    gzipped: await compress(plain),
    etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`,
  };
  rendered.set(key, document);
  return document;
}
