import { hash } from "node:crypto";

// Up to here the sum below is cheaper than SHA-256, which for a text of 500 characters takes 7% of all that a GET
// takes.
const SHORT_LENGTH = 2048;
const SHA256_LENGTH = 22;

/**
 * A strong entity tag of a text: 64 bits of a sum of a short one, 132 bits of the SHA-256 of a longer one. It tells the
 * states of one thing apart for one caller; who could make two states with one tag would deceive nobody but readers of
 * what is its own. Source: RFC 9110 §8.8.3.
 */
export function etagOf(text: string): string {
  if (text.length > SHORT_LENGTH) return `"${hash("sha256", text, "base64url").slice(0, SHA256_LENGTH)}"`;
  // Two lanes of 32 bits, each a step that can be undone for every character: texts that differ in one character never
  // meet. The first is FNV-1a.
  let one = 0x811c9dc5;
  let two = 0x9e3779b9;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit, 0x85ebca6b);
    two ^= two >>> 13;
  }
  return `"${(one >>> 0).toString(36)}-${(two >>> 0).toString(36)}"`;
}

/** Whether If-None-Match names the entity tag. Source: RFC 9110 §13.1.2. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === "*" || header.split(",").some((item) => item.trim().replace(/^W\//, "") === etag);
}
