import { createHash } from "node:crypto";
import { GetDiffRequestSchema } from "@moorage/api/messages";
import { openPageToken, PAGE_TOKEN_LIFETIME_MS, sealPageToken, wrongPageToken } from "../../aip/page-token.ts";
import type { Call } from "../../core/call.ts";
import type { Pair } from "./packages.ts";
import type { VulnerabilityChanged } from "./vulnerabilities.ts";

/**
 * Where a page begins: the digests that the first page compared, and how many packages and vulnerabilities came before.
 */
export interface DiffPage {
  from: string;
  to: string;
  offset: number;
  /** Of what was compared: an image that was read since, or a feed that changed, would change the order. */
  fingerprint: string;
}

const LIST = GetDiffRequestSchema.typeName;

/** The fingerprint of what is compared: which packages, how many of them differ, and which vulnerabilities. */
export function fingerprintOf(
  pairs: readonly Pair[],
  packages: number,
  vulnerabilities: readonly VulnerabilityChanged[],
): string {
  const differing = vulnerabilities.map(({ purl, vulnerability, platforms }) => [purl, vulnerability, platforms]);
  return createHash("sha256")
    .update(JSON.stringify([pairs, packages, differing]))
    .digest("hex");
}

/** The token of a page of the diff that `asked` names: the repo and the references of the request. */
export function sealDiffPage(call: Call, key: Uint8Array, asked: string, page: DiffPage): string {
  const { from, to, offset, fingerprint } = page;
  const position = [from, to, offset, fingerprint];
  return sealPageToken(key, { list: LIST, request: asked, position, issuedMs: call.nowMs });
}

/**
 * Opens such a token; undefined for none and for an expired one, which begin with the first page. Throws
 * INVALID_ARGUMENT on `page_token` for a token of anything else.
 */
export function openDiffPage(call: Call, key: Uint8Array, asked: string, text: string): DiffPage | undefined {
  if (text === "") return undefined;
  const { list, request, position, issuedMs } = openPageToken(key, text);
  if (call.nowMs - issuedMs > PAGE_TOKEN_LIFETIME_MS) return undefined;
  if (list !== LIST) throw wrongPageToken("is not a token of this method");
  if (request !== asked) throw wrongPageToken("was given for another repo, from or to");
  const [from, to, offset, fingerprint] = position as [string, string, number, string];
  return { from, to, offset, fingerprint };
}
