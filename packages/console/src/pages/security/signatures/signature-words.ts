import type {
  Signature,
  SignatureFormat,
  SignatureOutcome,
  SignatureState,
  SignatureTime,
  SignatureVerdict,
} from "../../../api/gen/registry.ts";
import type { BadgeLook } from "../../../ui/badge.tsx";

type Word = readonly [word: string, look: BadgeLook];

const NOT_SAID: Word = ["Not known", "outline"];
const STATES: Partial<Record<SignatureState, Word>> = {
  SIGNATURE_STATE_TRUSTED: ["Holds", "success"],
  SIGNATURE_STATE_UNTRUSTED: ["Not by a signer", "warning"],
  SIGNATURE_STATE_INVALID: ["Invalid", "danger"],
  SIGNATURE_STATE_EXPIRED: ["Key expired", "warning"],
  SIGNATURE_STATE_REVOKED: ["Key revoked", "danger"],
  SIGNATURE_STATE_WAITING: ["Not verified yet", "outline"],
};

/** What a signature is worth, in a word or two. */
export function stateWord(state: SignatureState): Word {
  return STATES[state] ?? NOT_SAID;
}

const OUTCOMES: Partial<Record<SignatureOutcome, Word>> = {
  SIGNATURE_OUTCOME_SIGNED: ["Signed", "success"],
  SIGNATURE_OUTCOME_UNSIGNED: ["Not signed", "danger"],
  SIGNATURE_OUTCOME_WAITING: ["Not verified yet", "warning"],
  SIGNATURE_OUTCOME_UNKNOWN: ["Not known", "warning"],
  SIGNATURE_OUTCOME_EXEMPT: ["Exempt", "accent"],
  SIGNATURE_OUTCOME_HELD_BEFORE: ["Here since before the policy", "plain"],
  SIGNATURE_OUTCOME_NOT_COVERED: ["Not covered", "plain"],
  SIGNATURE_OUTCOME_DOCUMENT: ["A signature or document", "plain"],
};

/** What a policy or a rule says of an image, in a word or two. */
export function outcomeWord(outcome: SignatureOutcome): Word {
  return OUTCOMES[outcome] ?? NOT_SAID;
}

const PREDICATES: readonly (readonly [part: RegExp, words: string])[] = [
  [/slsa\.dev\/provenance/, "How it was built: SLSA provenance"],
  [/slsa\.dev\/verification_summary/, "That it was verified: SLSA summary"],
  [/spdx\.dev/, "What it contains: SPDX"],
  [/cyclonedx\.org\/vex/, "Which vulnerabilities matter: VEX"],
  [/cyclonedx\.org/, "What it contains: CycloneDX"],
  [/openvex/, "Which vulnerabilities matter: OpenVEX"],
  [/cosign\.sigstore\.dev\/attestation\/vuln/, "A vulnerability scan"],
  [/in-toto\.io\/attestation\/test-result/, "A test result"],
];

/** What is signed: the image itself, or what an attestation states. */
export function purposeWords(predicateType: string): string {
  if (predicateType === "") return "The image itself";
  return PREDICATES.find(([part]) => part.test(predicateType))?.[1] ?? predicateType;
}

const FORMATS: Partial<Record<SignatureFormat, string>> = {
  SIGNATURE_FORMAT_SIMPLE_SIGNING: "cosign, payload with a signature",
  SIGNATURE_FORMAT_BUNDLE: "Sigstore bundle",
  SIGNATURE_FORMAT_DSSE: "DSSE envelope",
  SIGNATURE_FORMAT_NOTATION: "Notation",
};

/** The form in which a signature is stored. */
export function formatWords(format: SignatureFormat): string {
  return FORMATS[format] ?? "not known";
}

const TIMES: Partial<Record<SignatureTime, string>> = {
  SIGNATURE_TIME_LOG: "a transparency log",
  SIGNATURE_TIME_TIMESTAMP: "a time-stamping authority",
  SIGNATURE_TIME_REGISTRY: "this registry",
};

/** Who says when a signature was made; empty where nobody does. */
export function timeSourceWords(source: SignatureTime): string {
  return TIMES[source] ?? "";
}

/** The names of the signers by whom the signature holds, each once. */
export function trustedBy({ verdicts }: Signature): string[] {
  const held = verdicts.filter(({ state }) => state === "SIGNATURE_STATE_TRUSTED");
  return [...new Set(held.map(nameOf))];
}

/** A signer by name; one that is deleted has none. */
export function nameOf({ signerName }: SignatureVerdict): string {
  return signerName || "a deleted signer";
}

/** The verdict that the state of the signature is that of, if it is one's. */
export function mainVerdict({ verdicts, state, code }: Signature): SignatureVerdict | undefined {
  return verdicts.find((each) => each.state === state && each.code === code);
}
