import { isVersion } from "../../lib/versions/index.ts";
import { type Coordinates, isPathName, isSnapshot } from "./paths.ts";
import type { Plugin } from "./plugins.ts";
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

const MAX_VERSIONS = 50_000;
const MAX_PLUGINS = 10_000;
const MAX_TEXT_CHARS = 256;
const STAMP = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/;

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
  const isMetadata = readXml(text, "metadata", (path, value) => {
    if (path === "versioning/versions/version") {
      if (isRelease(value) && listed.size < MAX_VERSIONS) listed.add(value);
    } else if (path === "plugins/plugin") {
      if (plugins.length < MAX_PLUGINS) plugins.push(...pluginIn(plugin));
      plugin = new Map();
    } else if (path.startsWith("plugins/plugin/")) {
      plugin.set(path.slice("plugins/plugin/".length), value.slice(0, MAX_TEXT_CHARS));
    } else said.set(path, value);
  });
  if (!isMetadata) throw new Error("maven-metadata.xml is not well-formed XML whose root is metadata");
  const own = { groupId: said.get("groupId") ?? groupId, artifactId: said.get("artifactId") ?? artifactId };
  if (listed.size > 0 && (own.groupId !== groupId || own.artifactId !== artifactId))
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
