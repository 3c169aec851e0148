import type { SignatureAction, SignatureOutcome, SignatureState } from "@moorage/api/messages";
import type { Claims } from "../claims/claims.ts";

/** What a policy asks for, compiled. */
export interface CompiledRule {
  name: string;
  /** By their uids. */
  signers: readonly string[];
  /** How many different keys or identities must have signed. */
  threshold: number;
  /** Empty for a signature of the image itself. */
  predicateType: string;
  /** In milliseconds; undefined for any age. */
  maxAgeMs?: number;
  /** What must be signed with it. */
  annotations: readonly (readonly [name: string, value: string])[];
  /** Whether what is signed must name this image. */
  sameName: boolean;
  provenance?: CompiledProvenance;
  conditions: readonly CompiledCondition[];
}

/** What a provenance must say: of each list that is not empty, one. */
export interface CompiledProvenance {
  builderIds: readonly string[];
  buildTypes: readonly string[];
  sourceUris: readonly string[];
  sourceRefs: readonly string[];
}

/** What a predicate must say at a JSON pointer. */
export interface CompiledCondition {
  pointer: string;
  values: readonly string[];
  atLeast?: number;
  atMost?: number;
  newerThanMs?: number;
}

/** An image, or what a tag points to, that passes a policy until a time. */
export interface Exemption {
  repo: string;
  /** Empty for one of a tag. */
  digest: string;
  tag: string;
  expireMs: number;
}

/** A signature policy, compiled. */
export interface CompiledPolicy {
  uid: string;
  name: string;
  /** The group that it stands in, as people write it. */
  group: string;
  /** Whether it rejects; otherwise it only emits events. */
  enforces: boolean;
  actions: ReadonlySet<SignatureAction>;
  coversRepo(path: string): boolean;
  /** Undefined: it covers all images, also those without a tag. */
  coversTag?: (tag: string) => boolean;
  eachPlatform: boolean;
  /** Whether pulls of a tag whose image it blocks are answered with what the tag pointed to before. */
  holdsTag: boolean;
  rules: readonly CompiledRule[];
  /** Whose signatures SBOMs and VEX documents need to count; undefined where the policy asks for none. */
  documentSigners?: readonly string[];
  /** Images that a repo has held since before then pass. */
  sinceMs?: number;
  exemptions: readonly Exemption[];
  /** Why it cannot be read: it is damaged, and then nothing passes it. */
  problem?: string;
}

/** What a signature or attestation is worth by one signer who has made it. */
export interface SignatureFact {
  /** The manifest that holds it, and the number of its layer there. */
  manifest: string;
  layer: number;
  signer: string;
  /** Equal for what was made by one key or one identity, whichever signers have that. */
  key: string;
  predicateType: string;
  state: SignatureState;
  /** Why it is not trusted, in words. */
  reason: string;
  /** When it was made, by the word of somebody who counts. */
  signedMs?: number;
  /** Until when that holds, where it is known to end. */
  untilMs?: number;
  /** What was signed says so; read where a rule asks for it, and undefined for what was verified before it was kept. */
  claims?: Claims;
}

/** What is known of the signatures that are attached to a manifest. */
export interface SignedManifest {
  digest: string;
  facts: readonly SignatureFact[];
  /** Whether something that is attached waits to be looked at or verified. */
  waits: boolean;
  /** Signers against whose present keys something waits to be verified. */
  waitsFor: ReadonlySet<string>;
  /** Why something that is attached could not be verified, for each. */
  unread: readonly string[];
}

/** All that an image is judged by. Times are milliseconds since 1970. */
export interface Evidence {
  repo: string;
  /** The name of the image with all its groups, such as `acme/prod/app`. */
  path: string;
  digest: string;
  /** `document`: all that it holds are signatures, attestations, SBOMs or VEX documents. */
  kind: "image" | "index" | "document";
  /** Since when the repo has held it; undefined when it does not. */
  heldMs?: number;
  /** The tags that point to it or have pointed to it, or to an index that names it. */
  tags: readonly string[];
  /** Those of them that do now. */
  currentTags: readonly string[];
  /** Whether these are all tags. */
  hasAllTags: boolean;
  own: SignedManifest;
  /** The indexes that name it, where they have signatures or are exempt. */
  indexes: readonly SignedManifest[];
  /** Of an index: the images that it names, directly or through another one. */
  images: readonly SignedManifest[];
  /** Whether these are all images. */
  hasAllImages: boolean;
  /** What signers are called, by their uids. */
  signerNames: ReadonlyMap<string, string>;
}

/** What would be done with the image. */
export interface Attempted {
  action: SignatureAction;
  /** The tag that is to point to it, of a promotion or a copy. */
  tag?: string;
  nowMs: number;
}

/** What a rule says of an image. */
export interface RuleJudgment {
  rule: CompiledRule;
  outcome: SignatureOutcome;
  /** How many different keys or identities have signed what it asks for. */
  found: number;
  /** The manifest whose signatures count. */
  subject: string;
  /** Why it is not signed, in words. */
  reason: string;
}

/** What a policy says of an image. */
export interface PolicyJudgment {
  policy: CompiledPolicy;
  outcome: SignatureOutcome;
  /** In words; empty for what is signed. */
  reason: string;
  rules: readonly RuleJudgment[];
}

/** What all policies together say of an image. */
export interface Judgment {
  policies: readonly PolicyJudgment[];
  /** The same may be said until then, if nothing but the time changes; Infinity for good. */
  untilMs: number;
}

/** A policy that blocks an image, or would if it was enforced: plain data, for errors, events and memory. */
export interface HoldingPolicy {
  uid: string;
  name: string;
  group: string;
  enforces: boolean;
  outcome: SignatureOutcome;
  /** In words. */
  reason: string;
  /** Whether pulls of a tag are answered with what it pointed to before. */
  holdsTag: boolean;
  /** Whether the policy itself cannot be read. */
  isDamaged: boolean;
}
