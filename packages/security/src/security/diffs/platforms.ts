import { Capability, ChangeKind, PackagesState } from "@moorage/api/messages";
import { configOf, type Place, type PlatformImage, sizeOf } from "./images.ts";
import { type PackagesKnown, type PackageSet, packagesKnown, type Pair, unknown } from "./packages.ts";
import {
  type ChangeBudget,
  configEntries,
  labelsOf,
  type LayerChanged,
  layerChanges,
  textsOf,
  type ValueChanged,
  valueChanges,
} from "./values.ts";

/** The images of both sides for one platform; one of them may be missing. */
export interface ImagePair {
  platform: string;
  from: PlatformImage | undefined;
  to: PlatformImage | undefined;
}

/** The image of one platform, as it is answered. */
interface DiffImage {
  digest: string;
  size: bigint;
  layerCount: number;
  packagesState: PackagesState;
  packagesReason: string;
  /** The one that counts most; empty when its packages are not known. */
  packagesSource: string;
  /** All that count. */
  packagesSources: string[];
  /** Why its vulnerabilities are not known; set when they are compared. */
  vulnerabilitiesReason: string;
}

/** What differs for one platform. */
export interface PlatformDiffers {
  platform: string;
  kind: ChangeKind;
  from?: DiffImage;
  to?: DiffImage;
  config: ValueChanged[];
  labels: ValueChanged[];
  annotations: ValueChanged[];
  layers: LayerChanged[];
}

/** Pairs the images by platform, in the order of its names; the second of a platform with the second there. */
export function pairsOf(from: readonly PlatformImage[], to: readonly PlatformImage[]): ImagePair[] {
  const [before, after] = [byPlatform(from), byPlatform(to)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((platform) => {
    const [ours, theirs] = [before.get(platform) ?? [], after.get(platform) ?? []];
    return Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) => ({
      platform,
      from: ours[at],
      to: theirs[at],
    }));
  });
}

/** What differs between the images of a pair, without their packages. */
export async function platformDiff(
  place: Place,
  { platform, from, to }: ImagePair,
  { isIndex, changes }: { isIndex: boolean; changes: ChangeBudget },
): Promise<PlatformDiffers> {
  const diff: PlatformDiffers = {
    platform,
    kind: kindOf(from, to),
    ...(from === undefined ? {} : { from: await diffImage(place, from) }),
    ...(to === undefined ? {} : { to: await diffImage(place, to) }),
    config: [],
    labels: [],
    annotations: [],
    layers: [],
  };
  const [before, after] = [from?.manifest, to?.manifest];
  if (diff.kind !== ChangeKind.CHANGED || before === undefined || after === undefined) return diff;
  if (before.config?.digest !== after.config?.digest) {
    const [ours, theirs] = [await configOf(place, before), await configOf(place, after)];
    diff.config = changes.take(valueChanges(configEntries(ours), configEntries(theirs)));
    diff.labels = changes.take(valueChanges(labelsOf(ours), labelsOf(theirs)));
  }
  if (isIndex) diff.annotations = changes.take(valueChanges(textsOf(before.annotations), textsOf(after.annotations)));
  diff.layers = changes.take(layerChanges(before.layers ?? [], after.layers ?? []));
  return diff;
}

/** The pairs whose packages differ or may differ, as far as they are known. `complete`: all of them are. */
export function comparable(platforms: readonly PlatformDiffers[]): { pairs: Pair[]; complete: boolean } {
  const differing = platforms.filter(({ kind }) => kind !== ChangeKind.UNSPECIFIED);
  const known = differing.filter(({ from, to }) => isKnown(from) && isKnown(to));
  return {
    pairs: known.map(({ platform, from, to }) => ({ platform, from: setOf(from), to: setOf(to) })),
    complete: known.length === differing.length,
  };
}

const isKnown = (image: DiffImage | undefined): boolean =>
  image === undefined || image.packagesState === PackagesState.KNOWN;

function setOf(image: DiffImage | undefined): PackageSet | undefined {
  return image === undefined ? undefined : { digest: image.digest, sources: image.packagesSources };
}

function byPlatform(images: readonly PlatformImage[]): Map<string, PlatformImage[]> {
  return Map.groupBy(images, ({ platform }) => platform);
}

function kindOf(from: PlatformImage | undefined, to: PlatformImage | undefined): ChangeKind {
  if (from === undefined) return ChangeKind.ADDED;
  if (to === undefined) return ChangeKind.REMOVED;
  return from.digest === to.digest ? ChangeKind.UNSPECIFIED : ChangeKind.CHANGED;
}

async function diffImage(place: Place, image: PlatformImage): Promise<DiffImage> {
  const { state, reason, sources } = await knownOf(place, image);
  return {
    digest: image.digest,
    size: BigInt(image.manifest === undefined ? 0 : sizeOf(image.manifest)),
    layerCount: image.manifest?.layers?.length ?? 0,
    packagesState: state,
    packagesReason: reason,
    packagesSource: sources[0] ?? "",
    packagesSources: sources,
    vulnerabilitiesReason: "",
  };
}

async function knownOf({ call, repo }: Place, { digest, manifest }: PlatformImage): Promise<PackagesKnown> {
  if (!(await call.may(Capability.CAP_TENANT_SBOMS_LIST, repo)))
    return unknown(PackagesState.NOT_PERMITTED, "the caller lacks CAP_TENANT_SBOMS_LIST");
  // What another repo holds under that digest is not this one's to show.
  if (manifest === undefined) return unknown(PackagesState.MISSING, "it is not stored here");
  return await packagesKnown(call.tx, repo, digest);
}
