// A packument as another registry answers it, read like what a stranger wrote.
// Source: npm/registry, package-metadata.md.
import { isObject } from "@moorage/kernel/lib/json";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { faultOfHost } from "./address.ts";
import { SourceError } from "./source-error.ts";
import { isNumber } from "./npm-names.ts";
import { sumsIn } from "./sums.ts";

/** A version there. */
export interface SourceVersion {
  version: string;
  /** What its tarball has, the strongest first. */
  sums: string[];
  /** When it was published, in ISO 8601; undefined when that is not said, or no time that can be. */
  time: string | undefined;
  /** The path of its tarball at the source. */
  tarball: string;
  manifest: Record<string, unknown>;
  /** Why it cannot come. */
  fault?: string;
}

/** A package there. */
export interface SourcePackage {
  name: string;
  tags: ReadonlyMap<string, string>;
  versions: SourceVersion[];
  /** Of the latest version. */
  readme: string;
}

/** What reads npm packages where they come from. Everything throws a SourceError. */
export interface PackageReader {
  /** The names of the packages that are held there. */
  names(): Promise<string[]>;
  /** The uplinks that a package has versions of. */
  uplinksOf(name: string): Promise<string[]>;
  read(name: string): Promise<SourcePackage>;
  /** The bytes of a tarball. */
  tarball(path: string): Promise<Uint8Array[]>;
}

const MAX_VERSIONS = 20_000;
const MAX_TAGS = 200;
const MAX_TAG_CHARS = 128;

/** How a packument is read. */
interface Reading {
  /** Of the registry. */
  origin: string;
  nowMs: number;
  /** Whether its tarballs may have another scheme and port: where they are asked for by what is stored there. */
  byHost?: boolean;
}

/** Reads a packument. Throws a SourceError for what is not one. */
export function readPackument(value: unknown, name: string, { origin, nowMs, byHost = false }: Reading) {
  if (!isObject(value) || value["name"] !== name) throw new SourceError("its packument is that of another package");
  const { versions, time, readme, "dist-tags": tags } = value;
  if (!isObject(versions)) throw new SourceError("its packument has no versions");
  const entries = Object.entries(versions);
  if (entries.length > MAX_VERSIONS) throw new SourceError(`has more than ${MAX_VERSIONS} versions`);
  const times = isObject(time) ? time : {};
  const found: SourcePackage = {
    name,
    tags: tagsIn(tags),
    readme: typeof readme === "string" ? readme : "",
    versions: entries.map(([version, manifest]) => ({
      ...versionOf(manifest, { name, version, origin, byHost }),
      time: timeIn(times[version], nowMs),
    })),
  };
  return found;
}

function versionOf(
  value: unknown,
  { name, version, origin, byHost }: { name: string; version: string; origin: string; byHost: boolean },
): Omit<SourceVersion, "time"> {
  const manifest = isObject(value) ? value : {};
  const dist = isObject(manifest["dist"]) ? manifest["dist"] : {};
  const found = { version, sums: sumsIn(dist), tarball: "", manifest };
  if (!isNumber(version)) return { ...found, fault: "its number is not valid for a version here" };
  if (manifest["name"] !== name || manifest["version"] !== version)
    return { ...found, fault: "its manifest is that of another version" };
  if (found.sums.length === 0) return { ...found, fault: "the source says no sum of its tarball" };
  const { tarball } = dist;
  const url = typeof tarball === "string" ? URL.parse(tarball, origin) : null;
  if (url === null) return { ...found, fault: "the source says no URL of its tarball" };
  if (byHost ? faultOfHost(url, origin) !== undefined : url.origin !== origin)
    return { ...found, fault: `its tarball is at ${url.host}, and not at the source: not asked` };
  return { ...found, tarball: url.pathname + url.search };
}

function tagsIn(value: unknown): Map<string, string> {
  const tags = Object.entries(isObject(value) ? value : {});
  if (tags.length > MAX_TAGS) throw new SourceError(`has more than ${MAX_TAGS} tags`);
  return new Map(
    tags.filter((tag): tag is [string, string] => tag[0].length <= MAX_TAG_CHARS && typeof tag[1] === "string"),
  );
}

function timeIn(value: unknown, nowMs: number): string | undefined {
  const ms = typeof value === "string" && value.includes("T") ? parseIso8601(value)?.lastMs : undefined;
  return ms === undefined || ms < 0 || ms > nowMs ? undefined : new Date(ms).toISOString();
}
