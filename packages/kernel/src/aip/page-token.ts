import { hash, timingSafeEqual } from "node:crypto";
import { invalidArgument } from "../errors.ts";

/**
 * The content of a page token: the list, its order and filters, the position of the next page, and when it was issued.
 */
export interface PageToken {
  /** The full name of the list's request message, so that a token is accepted by its own list only. */
  list: string;
  /** The request without its paging fields, in binary and base64: the order and the filters. */
  request: string;
  /** The values of the sort columns in the last row of the page, then that row's uid. */
  position: (string | number)[];
  /** Milliseconds since 1970. */
  issuedMs: number;
}

/**
 * After this time a token restarts its list from the beginning, without an error. Source: docs/contract.md, "Limits".
 */
export const PAGE_TOKEN_LIFETIME_MS = 3 * 24 * 3_600_000;
const MAX_LENGTH = 65_536;
const MAC_BYTES = 16;

export function sealPageToken(key: Uint8Array, token: PageToken): string {
  const body = Buffer.from(JSON.stringify([token.list, token.request, token.position, token.issuedMs]));
  return sealText(key, body);
}

/**
 * Opens a token that `sealPageToken` made. Throws INVALID_ARGUMENT on `page_token` for any other text. The caller
 * checks whether it has expired.
 */
export function openPageToken(key: Uint8Array, text: string): PageToken {
  const body = openText(key, text, MAX_LENGTH);
  if (body === undefined) throw wrongPageToken("is not a token of this list");
  const [list, request, position, issuedMs] = JSON.parse(body.toString()) as [
    string,
    string,
    (string | number)[],
    number,
  ];
  return { list, request, position, issuedMs };
}

export function wrongPageToken(description: string): Error {
  return invalidArgument({ field: "page_token", description });
}

const NO_PURPOSE = Buffer.alloc(0);

/**
 * The body with its authentication code, as base64url. Text sealed for one purpose cannot be opened for another,
 * although all purposes share one key.
 */
export function sealText(key: Uint8Array, body: Uint8Array, purpose: Uint8Array = NO_PURPOSE): string {
  return Buffer.concat([codeOf(key, body, purpose), body]).toString("base64url");
}

/** The body of a text that `sealText` made for the same purpose. Undefined for any other text. */
export function openText(
  key: Uint8Array,
  text: string,
  maxLength: number,
  purpose: Uint8Array = NO_PURPOSE,
): Buffer | undefined {
  const raw =
    text.length <= maxLength && /^[A-Za-z0-9_-]+$/.test(text) ? Buffer.from(text, "base64url") : Buffer.alloc(0);
  const body = raw.subarray(MAC_BYTES);
  const isOurs =
    raw.length > MAC_BYTES &&
    raw.toString("base64url") === text &&
    timingSafeEqual(raw.subarray(0, MAC_BYTES), codeOf(key, body, purpose));
  return isOurs ? body : undefined;
}

function codeOf(key: Uint8Array, body: Uint8Array, purpose: Uint8Array): Buffer {
  return mac(key, purpose.length === 0 ? body : Buffer.concat([purpose, body]));
}

// HMAC-SHA-256 (RFC 2104) from one-shot hashes: an Hmac object costs more to create and to collect than all the other
// work for a token.
const BLOCK_BYTES = 64;
const pads = new WeakMap<Uint8Array, { inner: Buffer; outer: Buffer }>();

/** The first 16 bytes of the HMAC-SHA-256 of the body. The key has at most 64 bytes. */
export function mac(key: Uint8Array, body: Uint8Array): Buffer {
  const { inner, outer } = pads.get(key) ?? makePads(key);
  return hash(
    "sha256",
    Buffer.concat([outer, hash("sha256", Buffer.concat([inner, body]), "buffer")]),
    "buffer",
  ).subarray(0, MAC_BYTES);
}

function makePads(key: Uint8Array): { inner: Buffer; outer: Buffer } {
  if (key.length > BLOCK_BYTES) throw new RangeError("a key has at most 64 bytes");
  const padded = Buffer.alloc(BLOCK_BYTES);
  padded.set(key);
  const made = {
    inner: padded.map((byte) => byte ^ 0x36) as Buffer,
    outer: padded.map((byte) => byte ^ 0x5c) as Buffer,
  };
  pads.set(key, made);
  return made;
}
