// Values of the Cache-Status header, by which a group that stands for another registry says where an answer is from.
// Source: RFC 9211.

/** It was here. */
export const HIT = "Moorage; hit";
/** It was not here, and the registry was asked. */
export const MISS = "Moorage; fwd=miss";

/** A tag that was here, and for how many milliseconds it is served without asking; below 0 when that is over. */
export function hit(leftMs: number): string {
  return `${HIT}; ttl=${Math.ceil(leftMs / 1_000)}`;
}

/** The registry was asked although something is here; `status`: what it answered, if it did. */
export function stale(status: number | undefined): string {
  return `Moorage; fwd=stale${status === undefined ? "" : `; fwd-status=${status}`}`;
}
