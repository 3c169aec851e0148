import { promisify } from "node:util";
import { gzip, gzipSync } from "node:zlib";

// Of fewer bytes, handing them to another thread takes about as long as compressing them.
const SMALL_BYTES = 64 * 1024;
const onThread = promisify(gzip);

/**
 * The bytes in gzip (RFC 1952): small ones are compressed on this thread, larger ones on another one. `level`: from 1,
 * the fastest, to 9, the smallest; zlib's own default is 6.
 */
export async function gzipped(bytes: Uint8Array, level: number): Promise<Buffer> {
  return bytes.length <= SMALL_BYTES ? gzipSync(bytes, { level }) : await onThread(bytes, { level });
}
