import { algorithmOf } from "./algorithms.ts";
import { type Certificate, CertificateError, isIssuedBy, isSelfSigned, nameOf } from "./certificate.ts";
import { DIGITAL_SIGNATURE, NON_REPUDIATION, SIGNS_CERTIFICATES } from "./extensions.ts";

/** The most certificates of a chain. */
export const MAX_CHAIN = 10;
const CODE_SIGNING = "1.3.6.1.5.5.7.3.3";
const TIME_STAMPING = "1.3.6.1.5.5.7.3.8";
/** Any, for servers, clients and e-mail, of time stamps and of answers of OCSP. */
const OTHER_PURPOSES: ReadonlySet<string> = new Set([
  "2.5.29.37.0",
  ...["1", "2", "4", "8", "9"].map((end) => `1.3.6.1.5.5.7.3.${end}`),
]);

/** When certificates are valid together. Milliseconds since 1970. */
export interface Validity {
  notBeforeMs: number;
  notAfterMs: number;
}

/**
 * Throws a CertificateError unless these certificates are one chain that signs images: the one that has signed first,
 * each issued by the next, the last by itself. One alone has issued itself. Source: notaryproject/specifications,
 * signature-specification.md, "Certificate Requirements".
 */
export function requireSigningChain(chain: readonly [Certificate, ...Certificate[]]): void {
  const [leaf, ...authorities] = chain;
  requireLeaf(leaf);
  if (leaf.usage?.isCritical !== true) throw bad(leaf, "does not say critically what its key is for");
  if (algorithmOf(leaf.key) === undefined) throw bad(leaf, "has an RSA key that is not of 2048, 3072 or 4096 bits");
  const purposes = leaf.extendedUsage?.purposes;
  if (purposes !== undefined && (!purposes.includes(CODE_SIGNING) || purposes.some((each) => OTHER_PURPOSES.has(each))))
    throw bad(leaf, "is not one for signing code alone");
  requireAuthorities(authorities, true);
  for (const [at, certificate] of chain.entries()) {
    const next = chain[at + 1];
    if (next === undefined && !isSelfSigned(certificate))
      throw bad(certificate, "ends the chain and is not its own root");
    if (next === undefined) continue;
    if (isSelfSigned(certificate)) throw bad(certificate, "is a root, and others follow it");
    if (!isIssuedBy(certificate, next)) throw bad(certificate, `was not issued by ${nameOf(next)}, which follows it`);
  }
}

/** The same of a chain that stamps times, whose last certificate is trusted. Source: RFC 3161, section 2.3. */
export function requireStampingChain(chain: readonly [Certificate, ...Certificate[]]): void {
  const [leaf, ...authorities] = chain;
  requireLeaf(leaf);
  const { isCritical = false, purposes = [] } = leaf.extendedUsage ?? {};
  if (!isCritical || purposes.length !== 1 || purposes[0] !== TIME_STAMPING)
    throw bad(leaf, "is not one for time stamps alone");
  requireAuthorities(authorities, false);
}

/** When all of them are valid. */
export function validityOf(chain: readonly Certificate[]): Validity {
  return {
    notBeforeMs: Math.max(...chain.map(({ notBeforeMs }) => notBeforeMs)),
    notAfterMs: Math.min(...chain.map(({ notAfterMs }) => notAfterMs)),
  };
}

function requireLeaf(leaf: Certificate): void {
  if (leaf.authority !== undefined) throw bad(leaf, "is one of an authority, which signs no images");
  const bits = leaf.usage?.bits ?? new Set<number>();
  const isSigning = bits.has(DIGITAL_SIGNATURE);
  if (!isSigning || [...bits].some((bit) => bit !== DIGITAL_SIGNATURE && bit !== NON_REPUDIATION))
    throw bad(leaf, "has a key that is not for digital signatures alone");
}

function requireAuthorities(authorities: readonly Certificate[], mustBeCritical: boolean): void {
  for (const [at, each] of authorities.entries()) {
    const { authority, usage } = each;
    if (authority === undefined || (mustBeCritical && !authority.isCritical))
      throw bad(each, "is not one of an authority");
    if (usage?.bits.has(SIGNS_CERTIFICATES) !== true || (mustBeCritical && !usage.isCritical))
      throw bad(each, "has a key that is not for issuing certificates");
    if (authority.pathLength < at) throw bad(each, `may have ${authority.pathLength} authorities below, and has ${at}`);
  }
}

function bad(certificate: Certificate, words: string): Error {
  return new CertificateError(`the certificate of ${nameOf(certificate)} ${words}`);
}
