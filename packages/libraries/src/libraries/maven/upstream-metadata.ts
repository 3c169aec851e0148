import { isVersion } from "@moorage/kernel/lib/versions";
import type { DocumentKind, DocumentReader } from "../ecosystem/document-kind.ts";
import { type Coordinates, isPathName, isSnapshot, namesInFiles } from "./paths.ts";
import type { Plugin } from "./metadata.ts";
import { lastModifiedMs } from "./upstream-paths.ts";
import { readXml } from "./xml.ts";

/**
 * What is kept of an upstream's `maven-metadata.xml`: the releases of an artifact, the plugins of a groupId, or both.
 */
export interface UpstreamMetadata {
  /**
   * The releases, in the order of the document, each with a time at which it was there already, in milliseconds since
   * 1970: it was published then or before.
   */
  versions: [version: string, seenMs: number][];
  /** Empty where the document has none. */
  release: string;
  /** In milliseconds since 1970; 0 where the document does not say. */
  updateMs: number;
  plugins: Plugin[];
}

/** The longest lists have some thousands. */
const MAX_VERSIONS = 50_000;
const MAX_PLUGINS = 2_000;
const MAX_TEXT_CHARS = 256;
const STAMP = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;

/** What is read of the document beside lists. */
const SAID = new Set(["groupId", "artifactId", "versioning/release", "versioning/lastUpdated"]);
const OF_PLUGINS = new Set(["artifactId", "prefix", "name"]);

/** What of the metadata is of the folder as a whole. */
type MetadataHead = Omit<UpstreamMetadata, "versions">;

/** What an upstream lists in a folder. */
export type MetadataKind = DocumentKind<UpstreamMetadata, Coordinates, MetadataHead, number>;

/** How the metadata in a folder are read. */
export const metadataKind: DocumentReader<UpstreamMetadata, Coordinates, MetadataHead, number> = {
  parse(bytes, coordinates, { headers, nowMs, previous }) {
    // A version that is listed was there when the document came to be.
    const modifiedMs = lastModifiedMs(headers, nowMs) ?? nowMs;
    return upstreamMetadata(bytes.toString(), coordinates, { modifiedMs, previous });
  },
  parts: {
    split: ({ versions, ...head }) => ({ head, entries: versions }),
    join: ({ head, entries }) => ({ ...head, versions: entries.map(([version, seenMs]) => [version, seenMs]) }),
  },
};

/**
 * Reads the metadata of an artifact, or of the groupId that has the same folder. `modifiedMs`: when the document came
 * to be, or now; `previous`: what was kept of it before. Snapshots are left out. Throws an Error with the reason for
 * what is no metadata, or is that of another artifact.
 */
export function upstreamMetadata(
  text: string,
  { groupId, artifactId }: Coordinates,
  { modifiedMs, previous }: { modifiedMs: number; previous: UpstreamMetadata | undefined },
): UpstreamMetadata {
  const said = new Map<string, string>();
  const listed = new Set<string>();
  const plugins: Plugin[] = [];
  let plugin = new Map<string, string>();
  let tooMany: string | undefined;
  const isMetadata = readXml(text, "metadata", (path, value) => {
    if (path === "versioning/versions/version") {
      if (isRelease(value)) listed.add(value);
      if (listed.size > MAX_VERSIONS) tooMany ??= `${MAX_VERSIONS} releases`;
    } else if (path === "plugins/plugin") {
      plugins.push(...pluginIn(plugin));
      if (plugins.length > MAX_PLUGINS) tooMany ??= `${MAX_PLUGINS} plugins`;
      plugin = new Map();
    } else if (path.startsWith("plugins/plugin/")) {
      const field = path.slice("plugins/plugin/".length);
      if (OF_PLUGINS.has(field)) plugin.set(field, value.slice(0, MAX_TEXT_CHARS));
    } else if (SAID.has(path)) said.set(path, value.slice(0, MAX_TEXT_CHARS));
    return tooMany === undefined;
  });
  if (tooMany !== undefined) throw new Error(`maven-metadata.xml lists more than ${tooMany}`);
  if (!isMetadata) throw new Error("maven-metadata.xml is not well-formed XML whose root is metadata");
  const own = { groupId: said.get("groupId") ?? groupId, artifactId: said.get("artifactId") ?? artifactId };
  const isOwn = own.groupId === groupId && namesInFiles(artifactId).includes(own.artifactId);
  if (listed.size > 0 && !isOwn)
    throw new Error(`maven-metadata.xml is that of ${own.groupId}:${own.artifactId}`.slice(0, MAX_TEXT_CHARS));
  const seen = new Map(previous?.versions);
  const release = said.get("versioning/release") ?? "";
  return {
    versions: [...listed].map((version) => [version, seen.get(version) ?? modifiedMs]),
    release: listed.has(release) ? release : "",
    updateMs: timeOf(said.get("versioning/lastUpdated") ?? ""),
    plugins,
  };
}

function isRelease(version: string): boolean {
  return isVersion("maven", version) && isPathName(version) && !isSnapshot(version);
}

function pluginIn(fields: ReadonlyMap<string, string>): Plugin[] {
  const artifactId = fields.get("artifactId") ?? "";
  const prefix = fields.get("prefix") ?? "";
  if (!isPathName(artifactId) || !isPathName(prefix)) return [];
  return [{ name: fields.get("name") || artifactId, prefix, artifactId }];
}

/** Of a time such as `20260131101112`, in UTC. */
function timeOf(stamp: string): number {
  const [, year, month, day, hour, minute, second] = STAMP.exec(stamp) ?? [];
  if (year === undefined) return 0;
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
}
