import { randomUUID } from "node:crypto";

/**
 * A UUID of version 7: its first 48 bits are the time in milliseconds since 1970, the rest is random. Keys of one time
 * are together in an index, so that a transaction that adds many changes few of its pages. Source: RFC 9562, 5.7.
 */
export function uuidOf(timeMs: number): string {
  const time = Math.max(0, Math.trunc(timeMs)).toString(16).padStart(12, "0").slice(-12);
  // The random one's own version, of 4 bits, is replaced; its variant is the same.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
