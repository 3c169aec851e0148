import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { notFound } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { imagesOf, type Place, type SideImages, totalSize } from "./images.ts";
import { digestOf, type Reference } from "../images/references.ts";

/** One side of a comparison, looked up. */
export interface Side extends SideImages {
  reference: Reference;
  digest: string;
}

/** A side as it is answered. */
export interface ShownSide {
  reference: string;
  tag: string;
  digest: string;
  time?: Timestamp;
  asOf?: Timestamp;
  stored: boolean;
  mediaType: string;
  size: bigint;
}

/**
 * Looks a side up; `known`: the digest that an earlier page found. Throws NOT_FOUND when the tag is not there, or was
 * not then, and for a digest that the repo does not hold.
 */
export async function lookUp(
  place: Place,
  field: "from" | "to",
  reference: Reference,
  known: string | undefined,
): Promise<Side> {
  const digest = known ?? (await digestOf(place.call, place.repo, reference));
  const found = await imagesOf(place, field, digest);
  if (found.manifest === undefined && reference.tag === "") throw notFound("moorage.registry.v2.Image", digest);
  return { ...found, reference, digest };
}

/** `atMs`: as of when its vulnerabilities are, in milliseconds since 1970; now without. */
export function sideOf({ reference, digest, manifest, mediaType, images }: Side, atMs: number | undefined): ShownSide {
  return {
    reference: reference.text,
    tag: reference.tag,
    digest,
    ...(reference.timeMs === undefined ? {} : { time: timestamp(reference.timeMs) }),
    ...(atMs === undefined ? {} : { asOf: timestamp(atMs) }),
    stored: manifest !== undefined,
    mediaType,
    size: BigInt(totalSize(images)),
  };
}
