import { FindingSeverity, type ListLibraryFindingsRequest } from "@moorage/api/messages";
import { compareVersions, isVersion } from "@moorage/kernel/lib/versions";
import {
  isMalware,
  libraryKey,
  libraryVulnerabilities,
  type LibraryVulnerability,
  versionOrder,
  vulnerabilityKey,
} from "@moorage/security/security";
import type { Database } from "@moorage/kernel/store";
import { libraryOf } from "../artifacts/purls.ts";
import type { WalkedArtifact, WalkedVersion } from "./walk.ts";

/** One vulnerability of one version, by the records that say so. */
export interface LibraryFinding {
  artifact: WalkedArtifact;
  version: WalkedVersion;
  vulnerability: LibraryVulnerability["vulnerability"];
  summary: string;
  /** Later versions that fix it, and the last affected ones, in their order. */
  fixed: string[];
  lastAffected: string[];
  isMalware: boolean;
  isWontFix: boolean;
  records: { feed: string; id: string }[];
}

/** What is found in these versions of the artifact, in their order, and then in that of the vulnerabilities' ids. */
export async function findingsIn(
  db: Database,
  artifact: WalkedArtifact,
  versions: readonly WalkedVersion[],
): Promise<LibraryFinding[]> {
  const library = libraryOf(artifact);
  const asked = { ...library, versions: versions.map(({ version }) => version) };
  const [known = []] = await libraryVulnerabilities(db, artifact.parent, [asked]);
  const sorted = sorter(libraryKey(library));
  return versions.flatMap((version) => {
    const own = known.filter((each) => each.versions.includes(version.version));
    return [...Map.groupBy(own, ({ vulnerability }) => vulnerability.id).values()]
      .map((records) => findingOf(artifact, version, records, sorted))
      .sort((a, b) => (a.vulnerability.id < b.vulnerability.id ? -1 : 1));
  });
}

function findingOf(
  artifact: WalkedArtifact,
  version: WalkedVersion,
  all: readonly LibraryVulnerability[],
  sorted: (versions: readonly string[]) => string[],
): LibraryFinding {
  const [first] = all;
  if (first === undefined) throw new Error("a finding has a record");
  const hits = all.flatMap(({ hits: of }) => of.get(version.version) ?? []);
  return {
    artifact,
    version,
    vulnerability: first.vulnerability,
    summary: all.map(({ summary }) => summary).find((text) => text !== "") ?? "",
    fixed: sorted(hits.flatMap(({ fixed }) => fixed)),
    lastAffected: sorted(hits.flatMap(({ lastAffected }) => lastAffected)),
    isMalware: all.some(isMalware) || isMalware(first.vulnerability),
    isWontFix: hits.every(({ state }) => state === "WONT_FIX"),
    records: all.map(({ feed, id }) => ({ feed, id })),
  };
}

/** Says whether a version of the artifact can be compared with those that records name. */
export function versionReader(artifact: WalkedArtifact): (version: string) => boolean {
  const order = versionOrder(libraryKey(libraryOf(artifact)));
  return (version) => order !== undefined && isVersion(order, version);
}

/** Each version once, in the order of the ecosystem. */
function sorter(key: string): (versions: readonly string[]) => string[] {
  const order = versionOrder(key);
  return (versions) =>
    [...new Set(versions)].sort((a, b) =>
      order !== undefined && isVersion(order, a) && isVersion(order, b) ? compareVersions(order, a, b) : a < b ? -1 : 1,
    );
}

/** Whether the filters of a list leave the finding: all of them, of one with several values any. */
export function matches(finding: LibraryFinding, request: ListLibraryFindingsRequest): boolean {
  const { vulnerability, records, fixed } = finding;
  const ids = new Set(
    [vulnerability.id, ...vulnerability.aliases, ...records.map(({ id }) => id)].map(vulnerabilityKey),
  );
  return (
    (request.vulnerabilities.length === 0 || request.vulnerabilities.some((id) => ids.has(vulnerabilityKey(id)))) &&
    FindingSeverity[vulnerability.severity] >= request.minSeverity &&
    (request.kev === undefined || request.kev === vulnerability.isExploited) &&
    (request.fixable === undefined || request.fixable === fixed.length > 0) &&
    (request.malware === undefined || request.malware === finding.isMalware)
  );
}
