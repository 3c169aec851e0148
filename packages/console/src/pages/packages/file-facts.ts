import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/call.ts";
import type { Ecosystem } from "../../api/gen/libraries.ts";

const MAX_FILES = 200;
const MAX_DEPENDENCIES = 200;
/** Core metadata and POMs that are larger are not read. */
const MAX_METADATA_CHARS = 512 * 1024;
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
  /** The first 200, as the registry writes them; undefined where it is not known what the version depends on. */
  dependencies: string[] | undefined;
  /** How many more there are. */
  moreDependencies?: number;
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

/** What clients of the ecosystem read of a version: its files, and what it depends on. Of Maven no files. */
export function fileFactsQuery(place: VersionPlace) {
  const { ecosystem, group, name, version } = place;
  return queryOptions({
    queryKey: ["/libraries/files", ecosystem, group, name, version],
    queryFn: ({ signal }): Promise<FileFacts> => readFacts(place, signal),
    enabled: group !== "" && version !== "",
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
  if (place.ecosystem === "ECOSYSTEM_JAVA") {
    const [groupId = "", artifactId = ""] = place.name.split(":");
    const file = [...groupId.split("."), artifactId, place.version, `${artifactId}-${place.version}.pom`];
    const text = await textAt(`/maven/${path[0]}/-/${encoded(file.join("/"))}`, signal);
    return { files: [], ...listed(text === undefined ? undefined : pomDependencies(text)) };
  }
  const answer = await request(`/pypi/${path[0]}/simple/${path[1]}/`, { signal, headers: { accept: SIMPLE } });
  const project = (await answer.json()) as SimpleProject;
  const facts = pythonFacts(place, project);
  const described = describedFile(place, project);
  const text = described === undefined ? undefined : await textAt(described, signal);
  return { ...facts, ...listed(text === undefined ? undefined : requiredDistributions(text)) };
}

/** The text of a file of this server; undefined for one that is not there, or is too large. */
async function textAt(url: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    const { pathname, search } = new URL(url, location.origin);
    const answer = await request(pathname + search, { signal });
    if (Number(answer.headers.get("content-length") ?? 0) > MAX_METADATA_CHARS) {
      await answer.body?.cancel();
      return undefined;
    }
    return (await answer.text()).slice(0, MAX_METADATA_CHARS);
  } catch (error) {
    if (signal?.aborted) throw error;
    return undefined;
  }
}

function listed(all: readonly string[] | undefined): Pick<FileFacts, "dependencies" | "moreDependencies"> {
  return {
    dependencies: all?.slice(0, MAX_DEPENDENCIES),
    ...(all !== undefined && all.length > MAX_DEPENDENCIES && { moreDependencies: all.length - MAX_DEPENDENCIES }),
  };
}

/** What core metadata require, without their markers' order being changed. Source: PyPA, "core metadata". */
export function requiredDistributions(metadata: string): string[] {
  const end = /\r?\n\r?\n/.exec(metadata)?.index ?? metadata.length;
  return metadata
    .slice(0, end)
    .split("\n")
    .filter((line) => line.toLowerCase().startsWith("requires-dist:"))
    .map((line) => line.slice(line.indexOf(":") + 1).trim())
    .filter(Boolean);
}

/**
 * The dependencies that a POM itself names, as `group:artifact version (scope)`; those of its parents are not in it.
 * Undefined for a text that is no POM. Source: Maven, "POM reference".
 */
function pomDependencies(text: string): string[] | undefined {
  // A POM needs no document type, and one could name entities.
  if (text.includes("<!DOCTYPE") || text.includes("<!ENTITY")) return undefined;
  const { documentElement: project } = new DOMParser().parseFromString(text, "application/xml");
  if (project.localName !== "project") return undefined;
  const named = (parent: Element | undefined, name: string): Element[] =>
    [...(parent?.children ?? [])].filter(({ localName }) => localName === name);
  const word = (parent: Element, name: string): string => named(parent, name)[0]?.textContent?.trim() ?? "";
  return named(named(project, "dependencies")[0], "dependency").map((each) => {
    const scope = word(each, "scope");
    const version = word(each, "version") || "version by its parent";
    return `${word(each, "groupId")}:${word(each, "artifactId")} ${version}${scope === "" ? "" : ` (${scope})`}`;
  });
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
    ...listed(names.map(([each, range]) => `${each} ${textOf(range) ?? ""}`.trim())),
  };
}

interface SimpleProject {
  files?: readonly {
    filename?: unknown;
    url?: unknown;
    size?: unknown;
    hashes?: { sha256?: unknown };
    provenance?: unknown;
    "core-metadata"?: unknown;
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
    dependencies: undefined,
  };
}

/** Where the core metadata of a file of the version are; undefined where the registry has none beside it. */
function describedFile({ version }: VersionPlace, { files = [] }: SimpleProject): string | undefined {
  const file = files.find(
    (each) =>
      isOfVersion(textOf(each.filename) ?? "", version) &&
      each["core-metadata"] !== undefined &&
      each["core-metadata"] !== false,
  );
  const url = textOf(file?.url);
  return url === undefined ? undefined : `${url.split("#")[0] ?? ""}.metadata`;
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
