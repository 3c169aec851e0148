import { createHash } from "node:crypto";
import { GetDiffRequestSchema } from "@moorage/api/messages";
import { openPosition, type Paged, sealPosition } from "@moorage/kernel/aip/positions";
import type { Call } from "@moorage/kernel/core/call";
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
  return sealPosition(call, key, pagedBy(asked), [from, to, offset, fingerprint]);
}

/**
 * Opens such a token; undefined for none and for an expired one, which begin with the first page. Throws
 * INVALID_ARGUMENT on `page_token` for a token of anything else.
 */
export function openDiffPage(call: Call, key: Uint8Array, asked: string, text: string): DiffPage | undefined {
  const position = openPosition(call, key, pagedBy(asked), text);
  if (position === undefined) return undefined;
  const [from, to, offset, fingerprint] = position as [string, string, number, string];
  return { from, to, offset, fingerprint };
}

function pagedBy(asked: string): Paged {
  return { list: GetDiffRequestSchema.typeName, request: asked, fields: "repo, from or to" };
}
