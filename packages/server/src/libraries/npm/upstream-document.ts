import { valid } from "semver";
import type { DocumentAdapter } from "../upstreams/documents.ts";
import type { ExpectedSums } from "../upstreams/files.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { isRecord, type Manifest } from "./manifest.ts";

/** What an upstream says of a package, without what is not served. */
export interface NpmOffer {
  tags: Record<string, string>;
  createdMs?: number;
  modifiedMs?: number;
  versions: Record<string, OfferedVersion>;
}

/** A version that an upstream has. */
export interface OfferedVersion {
  manifest: Manifest;
  /** When it was published, as the upstream says; when it was first seen here, where it says nothing. */
  publishMs: number;
}

const PART = /^[a-zA-Z0-9_~-][a-zA-Z0-9._~-]*$/;
const MAX_NAME_CHARS = 214;

/**
 * Whether an upstream may have a package of that name. Old ones have upper-case letters, which no new one has. Nothing
 * that leads elsewhere in a URL is such a name.
 */
export function isUpstreamName(name: string): boolean {
  if (name.length > MAX_NAME_CHARS) return false;
  const [scope = "", rest, ...more] = name.split("/");
  if (rest === undefined) return PART.test(scope);
  return more.length === 0 && scope.startsWith("@") && PART.test(scope.slice(1)) && PART.test(rest);
}

/** How the document of a package is read. Source: npm/registry, package-metadata.md, "full". */
export function offerAdapter({ url }: UpstreamSettings, name: string): DocumentAdapter<NpmOffer> {
  return {
    url: `${url}/${name.replace("/", "%2f")}`,
    accept: "application/json",
    parse(bytes, { nowMs, previous }) {
      const document = jsonOf(bytes);
      if (!isRecord(document)) throw new Error("is no object");
      if (document["name"] !== name) throw new Error("is that of another package");
      const time = isRecord(document["time"]) ? document["time"] : {};
      const given = isRecord(document["versions"]) ? document["versions"] : {};
      const versions = Object.entries(given).flatMap(([version, manifest]): [string, OfferedVersion][] => {
        const kept = manifestOf(name, version, manifest);
        const publishMs = timeOf(time[version]) ?? previous?.versions[version]?.publishMs ?? nowMs;
        return kept === undefined ? [] : [[version, { manifest: kept, publishMs }]];
      });
      const numbers = new Set(versions.map(([version]) => version));
      const tags = Object.entries(isRecord(document["dist-tags"]) ? document["dist-tags"] : {}).filter(
        (tag): tag is [string, string] => typeof tag[1] === "string" && numbers.has(tag[1]),
      );
      const [createdMs, modifiedMs] = [timeOf(time["created"]), timeOf(time["modified"])];
      return {
        tags: Object.fromEntries(tags),
        ...(createdMs !== undefined && { createdMs }),
        ...(modifiedMs !== undefined && { modifiedMs }),
        versions: Object.fromEntries(versions),
      };
    },
  };
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    throw new Error("is not JSON", { cause });
  }
}

function timeOf(text: unknown): number | undefined {
  const ms = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}

/** Fields that are large or of the upstream's own. */
const DROPPED = ["readme", "readmeFilename", "_npmOperationalInternal", "_resolved", "_from"];

/** A version as it is served; undefined for one that does not fit together, or that could not be checked. */
function manifestOf(name: string, version: string, manifest: unknown): Manifest | undefined {
  if (!/^\d/.test(version) || valid(version) === null || !isRecord(manifest)) return undefined;
  const { dist } = manifest;
  if (manifest["name"] !== name || manifest["version"] !== version || !isRecord(dist)) return undefined;
  if (typeof dist["tarball"] !== "string" || Object.keys(sumsOf(dist)).length === 0) return undefined;
  return Object.fromEntries(Object.entries(manifest).filter(([field]) => !DROPPED.includes(field)));
}

/** The sums that a version's tarball must have, by its `dist`. Source: W3C, Subresource Integrity, for `integrity`. */
export function sumsOf(dist: Record<string, unknown>): ExpectedSums {
  const { integrity, shasum } = dist;
  const sums: ExpectedSums = {};
  if (typeof shasum === "string" && /^[0-9a-f]{40}$/i.test(shasum)) sums.sha1 = shasum.toLowerCase();
  if (typeof integrity !== "string") return sums;
  for (const token of integrity.split(/\s+/)) {
    const [, algorithm, base64 = ""] = /^(sha512|sha256|sha1)-([A-Za-z0-9+/]+={0,2})(?:\?.*)?$/.exec(token) ?? [];
    if (algorithm === "sha512" || algorithm === "sha256" || algorithm === "sha1")
      sums[algorithm] ??= Buffer.from(base64, "base64").toString("hex");
  }
  return sums;
}

/** The license that a manifest names, in any of the forms that there have been. */
export function licenseOf(manifest: Manifest): string | undefined {
  const { license, licenses } = manifest;
  const nameOf = (given: unknown): string | undefined => {
    const text = isRecord(given) ? given["type"] : given;
    return typeof text === "string" && text !== "" ? text : undefined;
  };
  if (license !== undefined && !Array.isArray(license)) return nameOf(license);
  const several = Array.isArray(license) ? license : Array.isArray(licenses) ? licenses : [licenses];
  const names = several.flatMap((each) => nameOf(each) ?? []);
  // More than one means a choice.
  return names.length === 0 ? undefined : names.join(" OR ");
}
