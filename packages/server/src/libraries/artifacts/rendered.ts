import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createLru } from "../../lib/lru.ts";

/** A document as it is sent. */
export interface Rendered {
  etag: string;
  plain: Buffer;
  gzipped: Buffer;
}

const CACHE_BYTES = 64 * 1024 * 1024;
const rendered = createLru<string, Rendered>(CACHE_BYTES, ({ plain, gzipped }) => plain.length + gzipped.length);
const compress = promisify(gzip);

/**
 * The document with this key, from memory or as `make` writes it. The key has the artifact's revision, which every change
 * of the artifact ends: each process makes a document once, whatever the number of versions.
 */
export async function renderedAs(key: string, make: () => Promise<string>): Promise<Rendered> {
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const plain = Buffer.from(await make());
  const made = {
    plain,
    gzipped: await compress(plain),
    etag: `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`,
  };
  rendered.set(key, made);
  return made;
}
