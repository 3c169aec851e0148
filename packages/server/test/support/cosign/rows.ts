import type { Sigstore } from "../keyless-signing.ts";
import type { Platform } from "../platform.ts";
import type { SignedRepo } from "../signed-repo.ts";
import type { SigningKey } from "../signing.ts";
import type { Cosign, CosignProgram } from "./program.ts";

/** Key pairs by what they are; `old` and `other` are further ones on P-256. */
export type KeyName = "p256" | "p384" | "p521" | "rsa2048" | "rsa4096" | "ed25519" | "old" | "other";

/** Public keys in PEM. */
export type Pems = Readonly<Record<KeyName, string>>;

/** Who signs a row's image, and with what. */
export interface Signing {
  platform: Platform;
  repo: SignedRepo;
  /** The digest that is asked about. */
  digest: string;
  /** Of the images of an index, where that is pushed; empty otherwise. */
  children: readonly string[];
  /** The index, where one is pushed. */
  index: string;
  keys: Readonly<Record<KeyName, SigningKey>>;
  sigstore: Sigstore;
  /** Another one, that nobody trusts. */
  stranger: Sigstore;
  cosign: Cosign;
  /** The reference of a digest of the repo, for cosign. */
  at(digest: string): string;
}

/** A key as a signer has it, with its bounds. */
export type RowKey = KeyName | { key: KeyName; notAfter?: string; revokeTime?: string };

/** A question that cosign and the registry are both asked. */
export interface Row {
  /** Names the group of its repo, and what is recorded of it. */
  id: string;
  what: string;
  /** What is pushed before: an image, or an index of two images. The index, or its first image, is asked about. */
  of?: "image" | "index" | "child";
  attach(signing: Signing): Promise<unknown>;
  signer: { keys: readonly RowKey[] } | { keyless: object };
  /** What the policy asks for beyond the signer. */
  rule?: object;
  policy?: object;
  /** Which cosign is asked; version 3 by default. */
  program?: CosignProgram;
  /** How cosign is asked, before the image's reference. */
  ask: readonly string[];
  /** Whether cosign verifies it, and whether the registry answers a pull. */
  cosign: boolean;
  registry: boolean;
  /** Where they differ: the reason. */
  why?: string;
}
