import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/call.ts";
import type { Ecosystem } from "../../api/gen/libraries.ts";

const MAX_FILES = 200;
const MAX_DEPENDENCIES = 200;
const FRESH_MS = 300_000;
const SIMPLE = "application/vnd.pypi.simple.v1+json";

/** A file of a version. */
export interface PackageFile {
  name: string;
  url: string;
  /** Undefined where the registry does not say it. */
  sizeBytes?: number | undefined;
  /** With its algorithm, such as `sha512-…`. */
  hash?: string | undefined;
  /** Whether it says how it was built; undefined where the registry does not say that of files. */
  isAttested?: boolean | undefined;
}

/** What the registry itself says of a version. */
export interface FileFacts {
  files: PackageFile[];
  license?: string | undefined;
  dependencies: string[];
  /** The type of what its publisher attests of it; undefined without. Of files of Python each says so by itself. */
  attestation?: string | undefined;
}

/** Of which version. */
export interface VersionPlace {
  ecosystem: Ecosystem;
  /** The path of the group. */
  group: string;
  name: string;
  version: string;
}

/** What clients of the ecosystem read of a version: its files, and what it depends on. Nothing for Maven. */
export function fileFactsQuery(place: VersionPlace) {
  const { ecosystem, group, name, version } = place;
  return queryOptions({
    queryKey: ["/libraries/files", ecosystem, group, name, version],
    queryFn: ({ signal }): Promise<FileFacts> => readFacts(place, signal),
    enabled: group !== "" && version !== "" && ecosystem !== "ECOSYSTEM_JAVA",
    staleTime: FRESH_MS,
    retry: false,
  });
}

async function readFacts(place: VersionPlace, signal: AbortSignal): Promise<FileFacts> {
  const path = [place.group, place.name].map(encoded);
  if (place.ecosystem === "ECOSYSTEM_JAVASCRIPT") {
    const url = `/npm/${path[0]}/${encodeURIComponent(place.name)}/${encodeURIComponent(place.version)}`;
    return npmFacts(place, await (await request(url, { signal })).json());
  }
  const answer = await request(`/pypi/${path[0]}/simple/${path[1]}/`, { signal, headers: { accept: SIMPLE } });
  return pythonFacts(place, await answer.json());
}

/** A path whose parts are encoded. */
function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

interface NpmManifest {
  license?: unknown;
  dependencies?: unknown;
  dist?: {
    tarball?: unknown;
    integrity?: unknown;
    shasum?: unknown;
    attestations?: { provenance?: { predicateType?: unknown } | null } | null;
  };
}

/** What npm's document of one version says. The texts are a publisher's: anything may stand in them. */
export function npmFacts({ name, version }: VersionPlace, { license, dependencies, dist }: NpmManifest): FileFacts {
  const names = typeof dependencies === "object" && dependencies !== null ? Object.entries(dependencies) : [];
  const url = textOf(dist?.tarball);
  const file = {
    name: url?.slice(url.lastIndexOf("/") + 1) ?? `${name}-${version}.tgz`,
    url: url ?? "",
    hash: textOf(dist?.integrity) ?? textOf(dist?.shasum),
  };
  return {
    files: url === undefined ? [] : [file],
    license: textOf(license),
    attestation: textOf(dist?.attestations?.provenance?.predicateType),
    dependencies: names.slice(0, MAX_DEPENDENCIES).map(([each, range]) => `${each} ${textOf(range) ?? ""}`.trim()),
  };
}

interface SimpleProject {
  files?: readonly {
    filename?: unknown;
    url?: unknown;
    size?: unknown;
    hashes?: { sha256?: unknown };
    provenance?: unknown;
  }[];
}

/** What the index of a Python project says of one version's files. */
export function pythonFacts({ version }: VersionPlace, { files = [] }: SimpleProject): FileFacts {
  const ours = files.filter(({ filename }) => isOfVersion(textOf(filename) ?? "", version));
  return {
    files: ours.slice(0, MAX_FILES).map(({ filename, url, size, hashes, provenance }) => ({
      name: textOf(filename) ?? "",
      url: textOf(url) ?? "",
      sizeBytes: typeof size === "number" ? size : undefined,
      hash: hashes === undefined ? undefined : `sha256-${textOf(hashes.sha256) ?? ""}`,
      isAttested: textOf(provenance) !== undefined,
    })),
    dependencies: [],
  };
}

/**
 * Whether a wheel or a source distribution is of a version, by its name.
 * Source: PyPA, "binary distribution format".
 */
function isOfVersion(filename: string, version: string): boolean {
  const wheel = filename.endsWith(".whl") ? filename.split("-")[1] : undefined;
  return wheel === undefined ? filename.includes(`-${version}.`) : wheel === version;
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
