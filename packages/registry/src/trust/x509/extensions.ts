import type { ASN1Obj } from "@sigstore/core";

/** What a certificate says of what it is for. */
export interface KnownExtensions {
  /** Whether it may issue others, and how many may come between it and the last. */
  authority: { isCritical: boolean; pathLength: number } | undefined;
  /** The numbers of the bits that are set; undefined without the extension. */
  usage: { isCritical: boolean; bits: ReadonlySet<number> } | undefined;
  /** Object identifiers; undefined without the extension. */
  extendedUsage: { isCritical: boolean; purposes: readonly string[] } | undefined;
}

/** Bits of the key usage. Source: RFC 5280, section 4.2.1.3. */
export const DIGITAL_SIGNATURE = 0;
export const NON_REPUDIATION = 1;
export const SIGNS_CERTIFICATES = 5;
export const SIGNS_LISTS = 6;

const KEY_USAGE = "2.5.29.15";
const ALTERNATIVE_NAME = "2.5.29.17";
const BASIC_CONSTRAINTS = "2.5.29.19";
const POLICIES = "2.5.29.32";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const UNDERSTOOD: ReadonlySet<string> = new Set([
  KEY_USAGE,
  ALTERNATIVE_NAME,
  BASIC_CONSTRAINTS,
  POLICIES,
  EXTENDED_KEY_USAGE,
]);

interface Extension {
  isCritical: boolean;
  content: ASN1Obj;
}

/**
 * Reads the extensions of a certificate. Throws for one that is there twice, and for a critical one that is not
 * understood, such as constraints of names. Source: RFC 5280, section 4.2.
 */
export function extensionsIn(list: ASN1Obj | undefined): KnownExtensions {
  const found = new Map<string, Extension>();
  for (const { subs } of list?.subs[0]?.subs ?? []) {
    const oid = subs[0]?.toOID() ?? "";
    const isCritical = subs.length === 3 && subs[1]?.toBoolean() === true;
    const content = subs.at(-1)?.subs[0];
    if (found.has(oid)) throw new Error(`the extension ${oid} is there twice`);
    if (isCritical && !UNDERSTOOD.has(oid)) throw new Error(`the critical extension ${oid} is not understood`);
    if (UNDERSTOOD.has(oid) && content === undefined) throw new Error(`the extension ${oid} is empty`);
    if (content !== undefined) found.set(oid, { isCritical, content });
  }
  const [usage, extended] = [found.get(KEY_USAGE), found.get(EXTENDED_KEY_USAGE)];
  return {
    authority: authorityIn(found.get(BASIC_CONSTRAINTS)),
    usage: usage && {
      isCritical: usage.isCritical,
      bits: new Set(usage.content.toBitString().flatMap((bit, at) => (bit === 1 ? [at] : []))),
    },
    extendedUsage: extended && {
      isCritical: extended.isCritical,
      purposes: extended.content.subs.map((each) => each.toOID()),
    },
  };
}

function authorityIn(extension: Extension | undefined): KnownExtensions["authority"] {
  const [isAuthority, length] = extension?.content.subs ?? [];
  if (extension === undefined || isAuthority === undefined || !isAuthority.tag.isBoolean() || !isAuthority.toBoolean())
    return undefined;
  const pathLength = length === undefined ? Infinity : Number(length.toInteger());
  return { isCritical: extension.isCritical, pathLength };
}
