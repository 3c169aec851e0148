import { compareBuild, prerelease } from "semver";
import type { Call } from "../../core/call.ts";
import type { Row } from "../../store/index.ts";
import { artifactNamed, ORIGIN } from "../artifacts/names.ts";
import { filesOf, removedOf, versionsOf } from "../artifacts/visible.ts";
import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, read } from "../http/exchange.ts";
import { requireSome } from "../policies/check.ts";
import { type BlockedVersion, shown, type VersionFacts } from "../policies/gate.ts";
import { attestationsPath } from "./attestations.ts";
import { isRecord, type Manifest, stateOf } from "./manifest.ts";
import { tarballName } from "./names.ts";
import { manifestsOf } from "./rows.ts";
import { licenseOf, type NpmOffer, type OfferedVersion, sumsOf } from "./upstream-document.ts";
import type { FoundPackage } from "./found.ts";

/** A version as a client gets it. */
export interface Version {
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
}

/** Puts together what a client gets of a package. Throws 409 when every version is blocked. */
export async function offeredOf(exchange: LibraryExchange, found: FoundPackage, url: string): Promise<Offered> {
  const { group, name, gate, document } = found;
  const offer = await document?.value();
  // Read again, so that the package and its versions are of one moment.
  const rows = await read(exchange, async (call) => {
    const artifact = await artifactNamed(call.tx, { group, ecosystem: exchange.ecosystem, normalized: name });
    return { artifact, ...(await rowsOf(call, found, artifact)) };
  });
  const { artifact } = rows;
  const all = versionsIn(exchange, found, rows, offer, url);
  // An upstream goes on naming a package of which everything was taken back.
  if (all.length === 0) throw libraryError(404, `Not found: ${name}`);
  const judged = shown(gate, all, ({ facts }) => facts);
  requireSome(exchange, gate, judged);
  const state = stateOf(artifact?.state ?? "{}");
  const numbers = new Set(all.map(({ version }) => version));
  const said = Object.entries({ ...offer?.tags, ...state.tags }).filter(([, version]) => numbers.has(version));
  const tags = Object.fromEntries(said);
  tags["latest"] ??= newestOf(all) ?? "";
  const shownTags = tagsOf(tags, judged.visible);
  return {
    name,
    artifact,
    createdMs: artifact?.create_time ?? offer?.createdMs ?? 0,
    modifiedMs: Math.max(artifact?.update_time ?? 0, document?.fetchedMs ?? 0),
    description: artifact?.description ?? textOf(all.at(-1)?.manifest["description"]),
    readme: state.readme ?? "",
    tags: shownTags,
    versions: judged.visible,
    nextMs: judged.nextMs,
    blocked: judged.hidden.find(({ version }) => version === tags["latest"]),
  };
}

interface Rows {
  artifact: Row<"artifacts"> | undefined;
  versions: Row<"artifact_versions">[];
  files: Row<"artifact_files">[];
  /** Versions that the group has removed: nobody has them any more. */
  removed: ReadonlySet<string>;
}

async function rowsOf(
  call: Call,
  { group, name, settings, gate }: FoundPackage,
  artifact: Row<"artifacts"> | undefined,
): Promise<Omit<Rows, "artifact">> {
  return {
    versions: artifact === undefined ? [] : await versionsOf(call.tx, artifact.uid),
    files: artifact === undefined ? [] : await filesOf(call.tx, artifact.uid),
    removed:
      settings?.isMerged === true
        ? await removedOf(call.tx, { group, ecosystem: gate.artifact.ecosystem, normalized: name })
        : new Set(),
  };
}

/** All versions, whatever is against them. What is kept counts before what the upstream says by now. */
function versionsIn(
  exchange: LibraryExchange,
  { group, name }: FoundPackage,
  { artifact, versions, files, removed }: Rows,
  offer: NpmOffer | undefined,
  url: string,
): Version[] {
  const offers = new Map(Object.entries(offer?.versions ?? {}));
  const kept = artifact === undefined ? [] : manifestsOf(artifact, { versions, files }, url);
  const byNumber = new Map(kept);
  const all = versions.map((row): Version => {
    const manifest = byNumber.get(row.version) ?? {};
    const offered = row.origin === ORIGIN.upstream ? offers.get(row.version) : undefined;
    offers.delete(row.version);
    if (offered !== undefined && isOther(manifest, offered.manifest))
      exchange.deps.upstreams.changed({ ecosystem: "npm", group, name, version: row.version });
    return {
      version: row.version,
      manifest: offered === undefined ? manifest : withDeprecation(manifest, row, offered),
      facts: factsOf(row, manifest),
    };
  });
  if (offers.size === 0) return all;
  for (const [version, offered] of offers)
    if (!removed.has(version))
      all.push({ version, manifest: manifestAt(url, name, offered), facts: offerFacts(version, offered) });
  return all.toSorted((one, other) => compareBuild(one.version, other.version));
}

/** Whether the upstream offers other content for a version than it did. */
function isOther(kept: Manifest, offered: Manifest): boolean {
  const [ours, theirs] = [kept["dist"], offered["dist"]].map((dist) => sumsOf(isRecord(dist) ? dist : {}));
  return (["sha512", "sha256", "sha1"] as const).some(
    (sum) => ours?.[sum] !== undefined && theirs?.[sum] !== undefined && ours[sum] !== theirs[sum],
  );
}

/** Deprecation is what an upstream may change of a version: what the group says of it itself counts before. */
function withDeprecation(manifest: Manifest, row: Row<"artifact_versions">, offered: OfferedVersion): Manifest {
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
export function offerFacts(version: string, { manifest, publishMs }: OfferedVersion): VersionFacts {
  return { version, origin: ORIGIN.upstream, publishMs, license: licenseOf(manifest) };
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
  const below = latest === "" ? visible : visible.filter(({ version }) => compareBuild(version, latest) < 0);
  const moved = newestOf(below.filter(({ version }) => prerelease(version) === null)) ?? newestOf(visible);
  return { ...(moved !== undefined && { latest: moved }), ...kept };
}

/** The newest release; where there is none, the newest pre-release. */
function newestOf(versions: readonly Version[]): string | undefined {
  const releases = versions.filter(({ version }) => prerelease(version) === null);
  return (releases.at(-1) ?? versions.at(-1))?.version;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
