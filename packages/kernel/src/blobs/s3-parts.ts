/**
 * A byte range of one object, both ends inclusive. `etag` is the object's, to detect that it was replaced before the
 * read.
 */
export interface Piece {
  key: string;
  etag: string;
  start: number;
  end: number;
}
/** One part of a multipart upload: copied by the S3 server, or read by this process and sent again. */
export type Part = { copy: Piece } | { read: Piece[] };

/** A byte range of an upload, stored as one object; `offset` is its position in the upload. */
export interface Segment {
  key: string;
  offset: number;
  size: number;
  etag: string;
  /** Of its blocks, as its bytes were received; undefined when another process received them: see BlockSums. */
  sums?: readonly number[] | undefined;
}

/**
 * Plans the parts that combine the segments into one object. Each part but the last must have at least `minBytes`, so a
 * smaller segment is read, together with the bytes after it, which takes `minBytes` of memory. A segment larger than
 * `copyBytes`, which is more than twice `minBytes`, is copied in several parts.
 */
export function planParts(
  segments: Segment[],
  { minBytes, copyBytes }: { minBytes: number; copyBytes: number },
): Part[] {
  const parts: Part[] = [];
  let small: Piece[] = [];
  let smallBytes = 0;
  for (const { key, etag, size } of segments) {
    let at = 0;
    if (smallBytes > 0 || size < minBytes) {
      at = Math.min(size, minBytes - smallBytes);
      small.push({ key, etag, start: 0, end: at - 1 });
      smallBytes += at;
      if (smallBytes === minBytes) {
        parts.push({ read: small });
        [small, smallBytes] = [[], 0];
      }
    }
    const rest = size - at;
    if (rest === 0) continue;
    if (rest < minBytes) {
      small.push({ key, etag, start: at, end: size - 1 });
      smallBytes += rest;
      continue;
    }
    const step = Math.ceil(rest / Math.ceil(rest / copyBytes));
    for (; at < size; at += step) parts.push({ copy: { key, etag, start: at, end: Math.min(size, at + step) - 1 } });
  }
  if (smallBytes > 0) parts.push({ read: small });
  return parts;
}
