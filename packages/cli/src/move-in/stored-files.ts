// Files as a repository of Nexus or Artifactory stores them, and what npm packages and Maven artifacts they are.
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import type { SourceClient } from "./client.ts";
import { isDerived, mavenPlaceOf } from "./maven-names.ts";
import { packagePath } from "./npm-names.ts";
import { fileFrom, packumentFrom } from "./package-files.ts";
import { type PackageReader, readPackument, type SourcePackage, type SourceVersion } from "./packument.ts";
import type { SourceArtifact, SourceMavenFile } from "./project-source.ts";
import { SourceError } from "./source-error.ts";
import { inStrength } from "./sums.ts";

/** A file that is stored there. */
export interface StoredFile extends SourceMavenFile {
  /** The name of the package or project that the source says it is of; empty when it does not. */
  name: string;
  /** The version that the source says; empty when it does not. */
  version: string;
}

const BETWEEN = "/-/";
const MAX_NAMED = 100_000;

/** How the npm packages of a repository are read. */
interface NpmRepository {
  client: SourceClient;
  /** What is stored, asked once. */
  files(): Promise<readonly StoredFile[]>;
  /** The path of its registry, before names of packages and the paths that are stored. */
  base: string;
}

/**
 * The npm packages of a repository: tags, reasons and manifests as their packuments have them, and of each version the
 * tarball that is stored.
 */
export function npmReader({ client, files, base }: NpmRepository): PackageReader {
  let grouped: Promise<Map<string, StoredFile[]>> | undefined;
  const tarballs = (): Promise<Map<string, StoredFile[]>> =>
    (grouped ??= files().then((all) => Map.groupBy(all.filter(isTarball), ({ path }) => path.split(BETWEEN)[0] ?? "")));
  return {
    async names() {
      const names = [...(await tarballs()).keys()];
      if (names.length > MAX_NAMED) throw new SourceError(`has more than ${MAX_NAMED} packages: use --names`);
      return names;
    },
    uplinksOf: async () => [],
    async read(name) {
      const said = await packumentFrom(client, base + packagePath(name));
      if (said === undefined) throw new SourceError("the source stores its tarballs, and has no packument of it");
      const found = readPackument(said, name, { origin: client.origin, nowMs: Date.now(), byHost: true });
      return withStored(found, (await tarballs()).get(name) ?? [], base);
    },
    tarball: (path) => fileFrom(client, path),
  };
}

/** A package whose versions have the tarballs that are stored. What is stored and not a version of it, is said. */
function withStored(found: SourcePackage, stored: readonly StoredFile[], base: string): SourcePackage {
  const byPath = new Map(stored.map((each) => [each.path, each]));
  const versions = found.versions.map((version): SourceVersion => {
    if (version.fault !== undefined) return version;
    const path = pathBelow(version.tarball, base);
    const tarball = path === undefined ? undefined : byPath.get(path);
    if (tarball === undefined) return { ...version, fault: "its tarball is not among the files of its repository" };
    byPath.delete(tarball.path);
    if (tarball.fault !== undefined) return { ...version, fault: tarball.fault };
    const sums = inStrength([...version.sums, ...tarball.sums]);
    return { ...version, sums, time: version.time ?? tarball.time, tarball: tarball.url };
  });
  const seen = new Set(found.versions.map(({ version }) => version));
  const left = [...byPath.values()].map(({ path }): SourceVersion => {
    const version = path.slice(path.lastIndexOf("/") + 1);
    const fault = seen.has(version) ? "is stored twice" : "is stored there, and no version of its packument has it";
    return { version, sums: [], time: undefined, tarball: "", manifest: {}, fault };
  });
  return { ...found, versions: [...versions, ...left] };
}

function isTarball({ path }: StoredFile): boolean {
  return path.endsWith(".tgz") && path.indexOf(BETWEEN) > 0;
}

/** What follows the base in a path of a URL; undefined for a path of something else. */
function pathBelow(path: string, base: string): string | undefined {
  try {
    const plain = decodeURIComponent(path.split("?", 1)[0] ?? "");
    return plain.startsWith(base) ? plain.slice(base.length) : undefined;
  } catch {
    return undefined;
  }
}

/** The Maven artifacts that files are of; metadata and sums, which are made here, are left out. */
export function artifactsIn(files: readonly StoredFile[]): SourceArtifact[] {
  const own = files.filter(({ path }) => !isDerived(path));
  const grouped = Map.groupBy(own, ({ path }) => mavenPlaceOf(path)?.artifact ?? path);
  return [...grouped].map(([name, found]) => ({ name, files: found }));
}

/** The earliest of the times that can be one, in ISO 8601; undefined when none can. */
export function earliest(times: readonly unknown[], nowMs: number): string | undefined {
  const found = times.flatMap((said) => {
    const ms = typeof said === "string" && said.includes("T") ? parseIso8601(said)?.lastMs : undefined;
    return ms === undefined || ms < 0 || ms > nowMs ? [] : [ms];
  });
  return found.length === 0 ? undefined : new Date(Math.min(...found)).toISOString();
}
