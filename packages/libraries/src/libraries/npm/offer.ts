import { compareBuild, prerelease } from "semver";
import { semverKey } from "@moorage/kernel/lib/versions";
import type { Row } from "@moorage/kernel/store";
import type { ArtifactRows } from "../requests/rows.ts";
import { ORIGIN } from "../ecosystem/origin.ts";
import {
  type BlockedVersion,
  type Judge,
  shown,
  type VersionFacts,
  type WholeBlock,
  wholeBlockOf,
} from "../policies/judge.ts";
import { attestationsPath } from "./attestations.ts";
import { isRecord, type Manifest, stateOf } from "./manifest.ts";
import { tarballName } from "./names.ts";
import { manifestsOf } from "./rows.ts";
import { licenseOf, type NpmOffer, offeredLicense, type OfferedVersion, sumsOf } from "./upstream-document.ts";

// What a client gets of a package is put together here, of plain data: of a large one in a task.

/** A version as a client gets it. */
interface Version {
  version: string;
  manifest: Manifest;
  facts: VersionFacts;
}

/** A package as a client gets it: what the group has of it and what its upstream offers, without what is blocked. */
export interface Offered {
  name: string;
  artifact: Row<"artifacts"> | undefined;
  createdMs: number;
  modifiedMs: number;
  description: string;
  readme: string;
  tags: Record<string, string>;
  /** The earliest first. */
  versions: Version[];
  /** From when on there is more, in milliseconds since 1970: a blocked version opens. */
  nextMs: number | undefined;
  /** The version that would be the latest, were it not blocked. */
  blocked: BlockedVersion | undefined;
  /** Every version is blocked. */
  whole: WholeBlock | undefined;
  /** Versions of which the upstream offers other content than it did. */
  changed: string[];
}

/** What a package is put together of. */
interface PackageSources extends ArtifactRows {
  name: string;
  /** Versions that the group has removed: nobody has them any more. */
  removed: ReadonlySet<string>;
  offer: NpmOffer | undefined;
  /** When the upstream said so, in milliseconds since 1970. */
  fetchedMs: number | undefined;
  /** The URL of the group's packages. */
  url: string;
}

/** Puts together what a client gets of a package; undefined when it has no versions. */
export function offeredOf(sources: PackageSources, judge: Judge): Offered | undefined {
  const { name, artifact, offer, fetchedMs } = sources;
  const { all, changed } = versionsIn(sources);
  // An upstream goes on naming a package of which everything was taken back.
  if (all.length === 0) return undefined;
  const judged = shown(judge, all, ({ facts }) => facts);
  const state = stateOf(artifact?.state ?? "{}");
  const numbers = new Set(all.map(({ version }) => version));
  const said = Object.entries({ ...offer?.tags, ...state.tags }).filter(([, version]) => numbers.has(version));
  const tags = Object.fromEntries(said);
  tags["latest"] ??= newestOf(all) ?? "";
  const shownTags = tagsOf(tags, judged.visible);
  return {
    name,
    artifact,
    createdMs: createdMsOf(sources),
    modifiedMs: Math.max(artifact?.update_time ?? 0, fetchedMs ?? 0),
    description: artifact?.description ?? textOf(all.at(-1)?.manifest["description"]),
    readme: state.readme ?? "",
    tags: shownTags,
    versions: judged.visible,
    nextMs: judged.nextMs,
    blocked: judged.hidden.find(({ version }) => version === tags["latest"]),
    whole: wholeBlockOf(judged),
    changed,
  };
}

/** When the package was made: what moved in with its times was, where it comes from, before it came. */
function createdMsOf({ artifact, versions, offer }: PackageSources): number {
  const ownMs = versions.filter(({ origin }) => origin === ORIGIN.published).map((row) => row.publish_time);
  const firstMs = artifact && ownMs.reduce((one, other) => Math.min(one, other), artifact.create_time);
  return firstMs ?? offer?.createdMs ?? 0;
}

/** All versions, whatever is against them. What is kept counts before what the upstream says by now. */
function versionsIn({ name, artifact, versions, files, removed, offer, url }: PackageSources): {
  all: Version[];
  changed: string[];
} {
  const offers = new Map(Object.entries(offer?.versions ?? {}));
  const kept = artifact === undefined ? [] : manifestsOf(artifact, { versions, files }, url);
  const byNumber = new Map(kept);
  const changed: string[] = [];
  const all = versions.map((row): Version => {
    const manifest = byNumber.get(row.version) ?? {};
    const offered = row.origin === ORIGIN.upstream ? offers.get(row.version) : undefined;
    offers.delete(row.version);
    if (offered !== undefined && isOther(manifest, offered.manifest)) changed.push(row.version);
    return {
      version: row.version,
      manifest: offered === undefined ? manifest : withDeprecation(manifest, row, offered),
      facts: factsOf(row, manifest),
    };
  });
  if (offers.size === 0) return { all, changed };
  for (const [version, offered] of offers)
    if (!removed.has(version))
      all.push({ version, manifest: manifestAt(url, name, offered), facts: offerFacts(version, offered) });
  return { all: sorted(all), changed };
}

/** By the order of npm. To compare two keys takes a hundredth of the time of comparing two versions. */
function sorted(versions: readonly Version[]): Version[] {
  const keyed = versions.map((each) => ({ each, key: semverKey(each.version) }));
  keyed.sort((one, other) =>
    one.key < other.key ? -1 : one.key > other.key ? 1 : compareBuild(one.each.version, other.each.version),
  );
  return keyed.map(({ each }) => each);
}

/** Whether the upstream offers other content for a version than it did. */
function isOther(kept: Manifest, offered: Manifest): boolean {
  const [ours, theirs] = [kept["dist"], offered["dist"]].map((dist) => sumsOf(isRecord(dist) ? dist : {}));
  return (["sha512", "sha256", "sha1"] as const).some(
    (sum) => ours?.[sum] !== undefined && theirs?.[sum] !== undefined && ours[sum] !== theirs[sum],
  );
}

/** Deprecation is what an upstream may change of a version: what the group says of it itself counts before. */
export function withDeprecation(manifest: Manifest, row: Row<"artifact_versions">, offered: OfferedVersion): Manifest {
  // Its own text is in the column; that of the upstream is in the manifest.
  if (row.deprecated !== null) return manifest;
  const { deprecated: _, ...rest } = manifest;
  const { deprecated } = offered.manifest;
  return typeof deprecated === "string" && deprecated !== "" ? { ...rest, deprecated } : rest;
}

/** A version of an upstream with URLs of the group. */
export function manifestAt(url: string, name: string, { manifest }: OfferedVersion): Manifest {
  const { dist, version } = manifest;
  const file = tarballName(name, String(version));
  const { attestations, ...rest } = isRecord(dist) ? dist : {};
  const attested = isRecord(attestations) && {
    attestations: { ...attestations, url: `${url}/${attestationsPath(name, String(version))}` },
  };
  return { ...manifest, dist: { ...rest, tarball: `${url}/${name}/-/${file}`, ...attested } };
}

/** What is judged of a version that is kept. */
export function factsOf(row: Row<"artifact_versions">, manifest: Manifest): VersionFacts {
  return {
    version: row.version,
    origin: row.origin,
    publishMs: row.publish_time,
    license: licenseOf(manifest),
  };
}

/** What is judged of a version that an upstream offers. */
export function offerFacts(version: string, offered: OfferedVersion): VersionFacts {
  return { version, origin: ORIGIN.upstream, publishMs: offered.publishMs, license: offeredLicense(offered) };
}

/**
 * The tags of the versions that are shown. `latest` comes to point to the newest release below the one that is not
 * shown, or to the newest of all; other tags go with their versions.
 */
function tagsOf(tags: Record<string, string>, visible: readonly Version[]): Record<string, string> {
  const numbers = new Set(visible.map(({ version }) => version));
  const { latest = "", ...others } = tags;
  const kept = Object.fromEntries(Object.entries(others).filter(([, version]) => numbers.has(version)));
  if (visible.length === 0) return kept;
  if (numbers.has(latest)) return { latest, ...kept };
  const key = semverKey(latest);
  const below =
    latest === "" ? visible : visible.filter(({ version }) => isBelow(semverKey(version), key, version, latest));
  const moved = below.findLast(({ version }) => prerelease(version) === null)?.version ?? newestOf(visible);
  return { ...(moved !== undefined && { latest: moved }), ...kept };
}

function isBelow(key: string, limitKey: string, version: string, limit: string): boolean {
  return key === limitKey ? compareBuild(version, limit) < 0 : key < limitKey;
}

/** The newest release; where there is none, the newest pre-release. */
function newestOf(versions: readonly Version[]): string | undefined {
  return (versions.findLast(({ version }) => prerelease(version) === null) ?? versions.at(-1))?.version;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
