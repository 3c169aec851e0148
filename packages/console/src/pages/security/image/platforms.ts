import { useQuery } from "@tanstack/react-query";
import { manifestQuery, type Manifest, type Place } from "./data.ts";
import { numberOf, objectOf, objectsOf, textOf } from "./json.ts";

/** One image of an index. */
interface PlatformImage {
  /** Such as `linux/arm/v7`. */
  platform: string;
  digest: string;
  size: number;
}

/** The images of an index; empty for that of one image. Attestations, which are for no platform, are left out. */
function imagesOf(manifest: Manifest | undefined): readonly PlatformImage[] {
  return objectsOf(manifest?.json["manifests"])
    .map((entry) => ({
      platform: platformName(objectOf(entry["platform"])),
      digest: textOf(entry["digest"]),
      size: numberOf(entry["size"]),
    }))
    .filter(({ platform }) => platform !== "unknown/unknown");
}

function platformName(platform: Readonly<Record<string, unknown>>): string {
  const parts = [platform["os"] ?? "unknown", platform["architecture"] ?? "unknown", platform["variant"] ?? ""];
  return parts.map(textOf).filter(Boolean).join("/");
}

/** The image that is looked at, and those to choose from. */
export interface Chosen {
  place: Place;
  /** What the reference names: an index or an image. */
  top: Manifest | undefined;
  images: readonly PlatformImage[];
  /** The platform that is looked at; empty when the reference names an image. */
  platform: string;
  /** The digest of the image that is looked at. */
  digest: string;
  manifest: Manifest | undefined;
  isPending: boolean;
  error: unknown;
}

/** The image of the chosen platform: without a choice the one for amd64, or the first. */
export function useChosen(place: Place, wanted: string | undefined): Chosen {
  const top = useQuery(manifestQuery(place));
  const images = imagesOf(top.data);
  const chosen =
    images.find(({ platform }) => platform === wanted) ??
    images.find(({ platform }) => platform === "linux/amd64") ??
    images[0];
  const digest = chosen?.digest ?? place.digest;
  const inner = useQuery({ ...manifestQuery({ ...place, digest }), enabled: top.data !== undefined });
  return {
    place,
    top: top.data,
    images,
    platform: chosen?.platform ?? "",
    digest,
    manifest: inner.data,
    isPending: top.isPending || (top.data !== undefined && inner.isPending),
    error: top.error ?? inner.error,
  };
}
