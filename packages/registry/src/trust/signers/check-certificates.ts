import {
  type Signer,
  type SignerCertificates,
  SignerRevocation,
  SignerScheme,
  SignatureTime,
} from "@moorage/api/messages";
import type { FieldViolation } from "@moorage/kernel/errors";
import { CertificateError, readCertificate } from "../x509/certificate.ts";
import { IdentityError, trustedIdentity } from "../x509/distinguished-name.ts";
import { listToDer, pemToDer } from "../x509/pem.ts";
import { readRevocationList } from "../x509/revocation-list.ts";

/** Those of authorities have two thousand; each signature is compared with all of them. */
const MAX_PEM = 16 << 10;
/** Those of an authority with a thousand entries. */
const MAX_LIST = 96 << 10;
/** All of these of a signer: they are read for each manifest with signatures. */
const MAX_ALL = 128 << 10;
const MAX_IDENTITY = 2_048;
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;

/** What is wrong with who issues a signer's certificates, and for whom: nothing is accepted and then ignored. */
export function certificatesViolations(
  x509: SignerCertificates,
  { times }: Pick<Signer, "times">,
  asksAuthorities: boolean,
): FieldViolation[] {
  const { roots, tsaRoots, identities, crls, revokedFingerprints, revocation } = x509;
  const isAuthority = x509.scheme === SignerScheme.SIGNING_AUTHORITY;
  const found: FieldViolation[] = [
    ...certificateViolations("roots", roots),
    ...certificateViolations("tsaRoots", tsaRoots),
    ...identityViolations(identities),
    ...listViolations(crls),
  ];
  const wrong = (field: string, description: string): void => void found.push({ field: `x509.${field}`, description });
  const characters = [...roots, ...tsaRoots, ...crls].reduce((sum, { length }) => sum + length, 0);
  if (characters > MAX_ALL)
    wrong(crls.length > 0 ? "crls" : "roots", `has, with roots, tsaRoots and crls, more than ${MAX_ALL} characters`);
  if (roots.length === 0) wrong("roots", "is required: the certificates of the authorities, in PEM");
  if (isAuthority && tsaRoots.length > 0)
    wrong("tsaRoots", "a signing authority vouches for the time itself: leave it out with SIGNING_AUTHORITY");
  if (!isAuthority && times.includes(SignatureTime.TIMESTAMP) && tsaRoots.length === 0)
    wrong("tsaRoots", "is required where times names TIMESTAMP");
  if (roots.some((root) => tsaRoots.some((tsa) => pemToDer(root).equals(pemToDer(tsa)))))
    wrong("tsaRoots", "has a certificate of roots: who signs images must not say when");
  for (const [at, fingerprint] of revokedFingerprints.entries())
    if (!FINGERPRINT.test(fingerprint))
      wrong(`revokedFingerprints[${at}]`, "must be sha256: and 64 hexadecimal digits, of the certificate's DER");
  const readsLists = revocation === SignerRevocation.CRL;
  if (crls.length > 0 && !readsLists) wrong("crls", "are read with the revocation CRL alone");
  if (crls.length === 0 && readsLists) wrong("crls", "is required with the revocation CRL: lists in PEM");
  if (revocation === SignerRevocation.ONLINE && !asksAuthorities)
    wrong(
      "revocation",
      "ONLINE needs the setting MOORAGE_REVOCATION=online, by which the server asks authorities; use CRL, or revokedFingerprints",
    );
  return found;
}

function certificateViolations(name: string, certificates: readonly string[]): FieldViolation[] {
  const seen = new Map<string, number>();
  return certificates.flatMap((pem, at) => {
    const wrong = (description: string): FieldViolation[] => [{ field: `x509.${name}[${at}]`, description }];
    if (pem.includes("PRIVATE KEY")) return wrong("holds a private key: only the certificate belongs here");
    const der = pem.length > MAX_PEM ? Buffer.alloc(0) : pemToDer(pem);
    if (der.length === 0)
      return wrong(
        `must be one certificate in PEM, from BEGIN CERTIFICATE to END CERTIFICATE, of at most ${MAX_PEM} characters`,
      );
    try {
      const { fingerprint } = readCertificate(der);
      const first = seen.get(fingerprint);
      seen.set(fingerprint, first ?? at);
      return first === undefined ? [] : wrong(`is the same certificate as x509.${name}[${first}]`);
    } catch (error) {
      if (error instanceof CertificateError) return wrong(error.message);
      throw error;
    }
  });
}

function listViolations(lists: readonly string[]): FieldViolation[] {
  return lists.flatMap((pem, at) => {
    const wrong = (description: string): FieldViolation[] => [{ field: `x509.crls[${at}]`, description }];
    const der = pem.length > MAX_LIST ? Buffer.alloc(0) : listToDer(pem);
    if (der.length === 0)
      return wrong(`must be one list in PEM, from BEGIN X509 CRL to END X509 CRL, of at most ${MAX_LIST} characters`);
    try {
      readRevocationList(der);
      return [];
    } catch (error) {
      if (error instanceof CertificateError) return wrong(error.message);
      throw error;
    }
  });
}

function identityViolations(identities: readonly string[]): FieldViolation[] {
  if (identities.length === 0)
    return [{ field: "x509.identities", description: 'is required: "x509.subject: C=…, ST=…, O=…", or "*" for all' }];
  if (identities.length > 1 && identities.includes("*"))
    return [{ field: "x509.identities", description: '"*" stands alone: it is everybody' }];
  return identities.flatMap((identity, at) => {
    const field = `x509.identities[${at}]`;
    if (identity.length > MAX_IDENTITY) return [{ field, description: `has more than ${MAX_IDENTITY} characters` }];
    try {
      trustedIdentity(identity);
      return [];
    } catch (error) {
      if (error instanceof IdentityError) return [{ field, description: error.message }];
      throw error;
    }
  });
}
