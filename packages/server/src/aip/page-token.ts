import { createHmac, timingSafeEqual } from "node:crypto";
import { invalidArgument } from "../errors.ts";

/** What a page token carries: whose list, its order and filters, where it stands, when it was given out. */
export interface PageToken {
  /** The list's response message, so that a token of one list is no token of another. */
  list: string;
  /** The request without its paging, binary, base64: the order and the filters. */
  request: string;
  /** The last row's values of the sorting columns, then its uid. */
  position: (string | number)[];
  /** Milliseconds since 1970. */
  issuedMs: number;
}

/** After this a token restarts its list from the beginning, without an error. Source: spec.md Limits. */
export const PAGE_TOKEN_LIFETIME_MS = 3 * 24 * 3_600_000;
const MAX_LENGTH = 16_384;
const MAC_BYTES = 16;

export function sealPageToken(key: Uint8Array, token: PageToken): string {
  const body = Buffer.from(JSON.stringify([token.list, token.request, token.position, token.issuedMs]));
  return Buffer.concat([mac(key, body), body]).toString("base64url");
}

/** Reads a token of ours. Throws INVALID_ARGUMENT on `page_token` for one that is not. Whether it has expired is the caller's to ask. */
export function openPageToken(key: Uint8Array, text: string): PageToken {
  const raw = text.length <= MAX_LENGTH && /^[A-Za-z0-9_-]+$/.test(text) ? Buffer.from(text, "base64url") : Buffer.alloc(0);
  const body = raw.subarray(MAC_BYTES);
  if (raw.length <= MAC_BYTES || raw.toString("base64url") !== text || !timingSafeEqual(raw.subarray(0, MAC_BYTES), mac(key, body))) {
    throw wrongPageToken("is not a token of this list");
  }
  const [list, request, position, issuedMs] = JSON.parse(body.toString()) as [string, string, (string | number)[], number];
  return { list, request, position, issuedMs };
}

export function wrongPageToken(description: string): Error {
  return invalidArgument({ field: "page_token", description });
}

function mac(key: Uint8Array, body: Uint8Array): Buffer {
  return createHmac("sha256", key).update(body).digest().subarray(0, MAC_BYTES);
}
