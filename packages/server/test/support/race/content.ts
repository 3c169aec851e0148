import { createHash } from "node:crypto";
import { type Dice, diceOf } from "../dice.ts";

const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";

export interface Content {
  digest: string;
  bytes: Buffer;
}

/** A manifest with the content that it refers to, so that it can be pushed to any repo. */
export interface Manifest extends Content {
  mediaType: string;
  blobs: readonly Content[];
  children: readonly Manifest[];
  /** The subject's digest; empty without a subject. */
  subject: string;
}

/**
 * Content that all clients push repeatedly, so that every repo shares digests with others. No client deletes these
 * manifests by digest.
 */
export interface Pool {
  blobs: readonly Content[];
  manifests: readonly Manifest[];
}

const POOL_BLOBS = 24;
const POOL_IMAGES = 6;

/** The same seed makes the same pool. */
export function poolOf(seed: number): Pool {
  const dice = diceOf(seed, 0);
  // One blob in eight is larger than 64 KiB.
  const blobs = Array.from({ length: POOL_BLOBS }, (_, at) =>
    contentOf(dice.bytes(at % 8 === 0 ? 70_000 + dice.below(30_000) : 100 + dice.below(5_000))),
  );
  const images = Array.from({ length: POOL_IMAGES }, () =>
    imageOf({ blobs: [dice.pick(blobs), dice.pick(blobs), dice.pick(blobs)] }),
  );
  return {
    blobs,
    manifests: [...images, indexOf({ children: images.slice(0, 2) }), indexOf({ children: images.slice(2, 5) })],
  };
}

export interface Parts {
  blobs?: readonly Content[];
  children?: readonly Manifest[];
  subject?: Manifest | undefined;
  /** Makes the digest unique. */
  nonce?: string;
}

/** An image whose configuration is the first of the blobs, or an artifact about its subject. */
export function imageOf({ blobs = [], subject, nonce }: Parts): Manifest {
  const [first, ...layers] = blobs.map(({ digest, bytes }) => ({
    mediaType: "application/vnd.oci.image.layer.v1.tar",
    digest,
    size: bytes.length,
  }));
  const config = { ...first, mediaType: "application/vnd.oci.image.config.v1+json" };
  const body = { schemaVersion: 2, mediaType: IMAGE, config, layers, ...about(subject, nonce) };
  return {
    ...contentOf(Buffer.from(JSON.stringify(body))),
    mediaType: IMAGE,
    blobs: [...new Set(blobs)],
    children: [],
    subject: subject?.digest ?? "",
  };
}

/** An index of images and indexes. */
export function indexOf({ children = [], subject, nonce }: Parts): Manifest {
  const manifests = children.map(({ mediaType, digest, bytes }) => ({ mediaType, digest, size: bytes.length }));
  const body = { schemaVersion: 2, mediaType: INDEX, manifests, ...about(subject, nonce) };
  return {
    ...contentOf(Buffer.from(JSON.stringify(body))),
    mediaType: INDEX,
    blobs: [],
    children: [...new Set(children)],
    subject: subject?.digest ?? "",
  };
}

function about(subject: Manifest | undefined, nonce: string | undefined): object {
  const descriptor = subject && { mediaType: subject.mediaType, digest: subject.digest, size: subject.bytes.length };
  return {
    ...(descriptor && { artifactType: "application/vnd.example.note", subject: descriptor }),
    ...(nonce !== undefined && { annotations: { "org.example.nonce": nonce } }),
  };
}

/** Two to four blobs of the pool, and in half of the cases a new one. */
export function someBlobs(dice: Dice, { blobs }: Pool): Content[] {
  const some = Array.from({ length: 2 + dice.below(3) }, () => dice.pick(blobs));
  if (dice.chance(0.5)) some.push(contentOf(dice.bytes(200 + dice.below(3_000))));
  return some;
}

export function contentOf(bytes: Buffer): Content {
  return { digest: digestOf(bytes), bytes };
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
