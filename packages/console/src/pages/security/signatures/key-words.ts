import type { SignaturePolicy, Signer, SignerKey } from "../../../api/gen/registry.ts";
import type { BadgeLook } from "../../../ui/badge.tsx";

/** Whether a key signs now, in a word or two. */
export function keyWord(key: SignerKey, nowMs: number): readonly [word: string, look: BadgeLook] {
  const { notBefore, notAfter, revokeTime } = key;
  if (revokeTime !== undefined && Date.parse(revokeTime) <= nowMs) return ["Revoked", "danger"];
  if (notAfter !== undefined && Date.parse(notAfter) <= nowMs) return ["Expired", "warning"];
  if (notBefore !== undefined && Date.parse(notBefore) > nowMs) return ["Not yet", "plain"];
  return ["Signs", "success"];
}

/** The policies that ask for signatures of the signer. */
export function policiesOf(signer: string, policies: readonly SignaturePolicy[]): SignaturePolicy[] {
  return policies.filter(({ rules }) => rules.some(({ signers }) => signers.includes(signer)));
}

/** By what a signer is known, in a line. */
export function knownBy({ keys, keyless, x509 }: Signer): string {
  if (x509 !== undefined) return x509.identities.map((each) => (each === "*" ? "any certificate" : each)).join("; ");
  if (keyless !== undefined) return `${keyless.subject || keyless.subjectPattern} of ${keyless.issuer}`;
  return keys.length === 1 ? "1 key" : `${keys.length} keys`;
}

/** What a signature loses when the key ends or is revoked. */
export function endWords({ times }: Signer): string {
  return times.includes("SIGNATURE_TIME_REGISTRY")
    ? "Signatures that this registry received before then still count."
    : "Earlier signatures no longer count either, because nothing proves when they were made.";
}
