import type { ByteRange } from "@moorage/kernel/blobs";

const RANGE = /^bytes=([^-]*)-([^-]*)$/i;
// 15 digits stay below 2^53.
const POSITION = /^\d{0,15}$/;
const CONTENT_RANGE = /^(?:bytes )?(\d{1,15})-(\d{1,15})(?:\/(?:\d{1,15}|\*))?$/;

/**
 * The bytes that a Range header selects from `size` bytes. Several ranges, another unit or a malformed header select
 * the whole, as RFC 9110 §14.2 allows. A range that begins past the end, ends before it begins, or is of no bytes is
 * unsatisfiable.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | "whole" | "unsatisfiable" {
  const match = header === undefined ? null : RANGE.exec(header);
  if (!match) return "whole";
  const [first = "", last = ""] = match.slice(1).map((position) => position.trim());
  if (!POSITION.test(first) || !POSITION.test(last) || (first === "" && last === "")) return "whole";
  if (first === "") {
    const count = Math.min(Number(last), size);
    return count === 0 ? "unsatisfiable" : { start: size - count, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Number(last);
  return start >= size || end < start ? "unsatisfiable" : { start, end: Math.min(end, size - 1) };
}

/**
 * Reads the Content-Range of a chunk: `<first>-<last>` (OCI), or `bytes <first>-<last>/<size>` (RFC 9110). Undefined
 * when it is malformed.
 */
export function parseContentRange(header: string): ByteRange | undefined {
  const match = CONTENT_RANGE.exec(header.trim());
  if (!match) return undefined;
  const range = { start: Number(match[1]), end: Number(match[2]) };
  return range.end < range.start ? undefined : range;
}

/**
 * The Range header of an upload of `size` bytes. The format cannot express an empty upload; like other registries this
 * answers `0-0`.
 */
export function uploadRange(size: number): string {
  return `0-${Math.max(0, size - 1)}`;
}
