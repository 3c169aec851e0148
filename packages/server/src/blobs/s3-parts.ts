/** A stretch of one object, both ends inclusive. `etag` is the object's: what is read must still be that. */
export interface Piece {
  key: string;
  etag: string;
  start: number;
  end: number;
}
/** One part of a multipart upload: copied by the server, or read here and sent again. */
export type Part = { copy: Piece } | { read: Piece[] };

/** A stretch of an upload, stored as one object; `offset` is where it lies in the upload. */
export interface Segment {
  key: string;
  offset: number;
  size: number;
  etag: string;
}

/**
 * How the segments become one object. A part but the last must have at least `minBytes`, so what is smaller is joined
 * with what comes after it by reading, which takes `minBytes` of memory. What is larger than `copyBytes`, which is more
 * than twice `minBytes`, is copied in several parts.
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
