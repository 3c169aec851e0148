import { ChangeKind, PackagesState } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { orderOfType, parsedPurl, purlWithoutVersion } from "@moorage/kernel/lib/purls";
import { createTurns } from "@moorage/kernel/lib/turns";
import { compareVersions, type VersionOrder } from "@moorage/kernel/lib/versions";
import { type Database, statement } from "@moorage/kernel/store";
import { countingSources } from "../attached/sources.ts";
import { CATALOG_STATE } from "../catalog/rows.ts";
import { REGISTRY_BY_PURL_TYPE } from "../matching/ecosystems.ts";
import { placesOf } from "../images/weights.ts";

/** Whether the packages of an image are known, by which sources, and why not. */
export interface PackagesKnown {
  state: PackagesState;
  reason: string;
  /** As `image_packages` has them; none when they are not known. */
  sources: string[];
}

/** The packages of an image that any of the sources says. */
export interface PackageSet {
  digest: string;
  sources: string[];
}

/** A package that differs, on these platforms. */
export interface PackageChanged {
  kind: ChangeKind;
  purl: string;
  name: string;
  fromVersions: string[];
  toVersions: string[];
  platforms: string[];
}

/** The packages of two images of a platform; undefined where a side has none. */
export interface Pair {
  platform: string;
  from: PackageSet | undefined;
  to: PackageSet | undefined;
}

/** The most packages that are compared for one answer, both sides together. */
const MAX_PACKAGES = 400_000;
const SLICE = 5_000;

interface PackageRow {
  purl: string;
  name: string;
  version: string;
}
interface Versions {
  name: string;
  from: Set<string>;
  to: Set<string>;
}

const selectSlice = statement<PackageRow>(
  `select p.purl, p.name, p.version from image_packages as i join packages as p on p.id = i.package
    where i.digest = ? and i.source = ? and i.n >= ? and i.n < ? order by i.n`,
  ["text", "text", "bigint", "bigint"],
);

/** Whether it is known what the image holds, and which source counts in the repo. */
export async function packagesKnown(tx: Database, repo: string, digest: string): Promise<PackagesKnown> {
  const counting = await countingSources(tx, { repo, digest });
  // What anybody attached alone makes nothing known.
  if (counting[0]?.isClaim === false)
    return { state: PackagesState.KNOWN, reason: "", sources: counting.map(({ source }) => source) };
  const row = await tx
    .selectFrom("image_catalogs")
    .select(["state", "reason"])
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (row === undefined)
    return unknown(PackagesState.MISSING, "it is no image with file systems, or is not stored here");
  return row.state === CATALOG_STATE.failed
    ? unknown(PackagesState.FAILED, `it could not be read: ${row.reason}`)
    : unknown(PackagesState.WAITING, "it waits to be read");
}

/** That nothing is known, and why. */
export function unknown(state: PackagesState, reason: string): PackagesKnown {
  return { state, reason, sources: [] };
}

/**
 * The packages that differ between the images of each pair, in the order of purls; what differs in the same way on
 * several platforms is one change. Throws INVALID_ARGUMENT on `to` when there are too many packages to compare, and
 * ABORTED when the caller leaves.
 */
export async function packageChanges(call: Call, pairs: readonly Pair[]): Promise<PackageChanged[]> {
  const changes = new Map<string, PackageChanged>();
  let places = 0;
  for (const side of pairs.flatMap(({ from, to }) => [from, to])) {
    if (side === undefined) continue;
    places += await placesOf(call.tx, side.digest, side.sources);
    call.weigh(places);
    if (places > MAX_PACKAGES)
      throw invalidArgument({ field: "to", description: `the images hold more than ${MAX_PACKAGES} packages in all` });
  }
  for (const { platform, from, to } of pairs) {
    const found = new Map<string, Versions>();
    if (from !== undefined) await addVersions(call, from, "from", found);
    if (to !== undefined) await addVersions(call, to, "to", found);
    for (const [purl, versions] of found) addChange(changes, platform, purl, versions);
  }
  return [...changes.values()].sort(
    (a, b) => compareText(a.purl, b.purl) || compareText(a.platforms[0] ?? "", b.platforms[0] ?? ""),
  );
}

async function addVersions(
  call: Call,
  { digest, sources }: PackageSet,
  side: "from" | "to",
  found: Map<string, Versions>,
): Promise<void> {
  const turn = createTurns();
  for (const source of sources)
    for (let n = 0, isMore = true; isMore; n += SLICE) {
      const rows = await selectSlice(call.tx, digest, source, n, n + SLICE);
      for (const { purl, name, version } of rows) {
        const key = purlWithoutVersion(purl);
        const versions = found.get(key) ?? { name, from: new Set(), to: new Set() };
        found.set(key, versions);
        versions[side].add(version);
      }
      isMore = rows.length === SLICE;
      // Other requests have their turn, and a caller who left is noticed.
      if (isMore) await turn();
      call.requireCaller();
    }
}

function addChange(
  changes: Map<string, PackageChanged>,
  platform: string,
  purl: string,
  { name, from, to }: Versions,
): void {
  if (from.size === to.size && [...from].every((version) => to.has(version))) return;
  const order = orderOf(purl);
  const change: PackageChanged = {
    kind: from.size === 0 ? ChangeKind.ADDED : to.size === 0 ? ChangeKind.REMOVED : ChangeKind.CHANGED,
    purl,
    name,
    fromVersions: sorted(from, order),
    toVersions: sorted(to, order),
    platforms: [],
  };
  const key = JSON.stringify([purl, change.fromVersions, change.toVersions]);
  const same = changes.get(key) ?? change;
  changes.set(key, same);
  if (!same.platforms.includes(platform)) same.platforms.push(platform);
}

/** Versions in the order of their ecosystem; by the alphabet where there is none. */
export function sorted(versions: ReadonlySet<string>, order: VersionOrder | undefined): string[] {
  return [...versions].sort((a, b) => (order === undefined ? 0 : compareVersions(order, a, b)) || compareText(a, b));
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order of the versions of a package. Undefined for types of purls whose versions have none that is known. */
export function orderOf(purl: string): VersionOrder | undefined {
  const { type = "" } = parsedPurl(purl) ?? {};
  return REGISTRY_BY_PURL_TYPE.get(type)?.order ?? orderOfType(type);
}
