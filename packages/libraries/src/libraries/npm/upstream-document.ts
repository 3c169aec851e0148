import { valid } from "semver";
import { parseJson } from "@moorage/kernel/lib/json";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../reading/limits.ts";
import type { ExpectedSums } from "../upstreams/files.ts";
import type { DocumentKind, DocumentReader } from "../ecosystem/document-kind.ts";
import { isRecord, isTooLarge, type Manifest, MAX_MANIFEST_BYTES } from "./manifest.ts";

/** What an upstream says of a package, without what is not served. */
export interface NpmOffer {
  tags: Record<string, string>;
  createdMs?: number;
  modifiedMs?: number;
  /** Versions that are not served, since their manifests are too large. */
  tooLarge?: string[];
  versions: Record<string, OfferedVersion>;
}

/** A version that an upstream has. */
export interface OfferedVersion {
  manifest: Manifest;
  /** When it was published, as the upstream says; when it was first seen here, where it says nothing. */
  publishMs: number;
  /** It is one of a package that has more licenses than any has: none of them is believed. */
  hasManyLicenses?: true;
}

const PART = /^[a-zA-Z0-9_~-][a-zA-Z0-9._~-]*$/;
const MAX_NAME_CHARS = 214;
/** The packages with the most versions have some ten thousand. */
const MAX_VERSIONS = 200_000;
const MAX_TAGS = 2_000;
const MAX_NAMED = 100;
/** A package changes its license once or twice. With more than this what its versions say is not believed. */
const MAX_LICENSES = 500;

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

/** What of an offer is of the package as a whole. */
type NpmOfferHead = Omit<NpmOffer, "versions">;

/** What an upstream says of a package. */
export type PackageKind = DocumentKind<NpmOffer, { name: string }, NpmOfferHead, OfferedVersion>;

/** How the document of a package is read. */
export const packageKind: DocumentReader<NpmOffer, { name: string }, NpmOfferHead, OfferedVersion> = {
  parse(bytes, { name }, { nowMs, previous }) {
    const document = jsonOf(bytes);
    if (!isRecord(document)) throw new Error("is no object");
    if (document["name"] !== name) throw new Error("is that of another package");
    const time = isRecord(document["time"]) ? document["time"] : {};
    const given = Object.entries(isRecord(document["versions"]) ? document["versions"] : {});
    if (given.length > MAX_VERSIONS) throw new Error(`has more than ${MAX_VERSIONS} versions`);
    const tooLarge: string[] = [];
    const versions = given.flatMap(([version, manifest]): [string, OfferedVersion][] => {
      const kept = manifestOf(name, version, manifest);
      if (kept === undefined) return [];
      // A small document has no large manifest.
      if (bytes.length > MAX_MANIFEST_BYTES / 4 && isTooLarge(JSON.stringify(kept))) {
        tooLarge.push(version);
        return [];
      }
      const publishMs = timeOf(time[version]) ?? previous?.versions[version]?.publishMs ?? nowMs;
      return [[version, { manifest: kept, publishMs }]];
    });
    const licenses = new Set(versions.map(([, { manifest }]) => licenseOf(manifest)));
    if (licenses.size > MAX_LICENSES) for (const [, offered] of versions) offered.hasManyLicenses = true;
    const numbers = new Set(versions.map(([version]) => version));
    const tags = Object.entries(isRecord(document["dist-tags"]) ? document["dist-tags"] : {}).filter(
      (tag): tag is [string, string] => typeof tag[1] === "string" && numbers.has(tag[1]),
    );
    if (tags.length > MAX_TAGS) throw new Error(`has more than ${MAX_TAGS} tags`);
    const [createdMs, modifiedMs] = [timeOf(time["created"]), timeOf(time["modified"])];
    return {
      tags: Object.fromEntries(tags),
      ...(createdMs !== undefined && { createdMs }),
      ...(modifiedMs !== undefined && { modifiedMs }),
      ...(tooLarge.length > 0 && { tooLarge: tooLarge.slice(0, MAX_NAMED) }),
      versions: Object.fromEntries(versions),
    };
  },
  parts: {
    split: ({ versions, ...head }) => ({ head, entries: Object.entries(versions) }),
    join: ({ head, entries }) => ({ ...head, versions: Object.fromEntries(entries) }),
  },
};

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString(), MAX_JSON_DEPTH, MAX_JSON_VALUES);
  } catch (cause) {
    const why = cause instanceof SyntaxError && /^(?:nested too deeply|too many values)$/.test(cause.message);
    throw new Error(why ? `is JSON with ${cause.message}` : "is not JSON", { cause });
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

const MAX_INTEGRITY_CHARS = 4_096;

/** The sums that a version's tarball must have, by its `dist`. Source: W3C, Subresource Integrity, for `integrity`. */
export function sumsOf(dist: Record<string, unknown>): ExpectedSums {
  const { integrity, shasum } = dist;
  const sums: ExpectedSums = {};
  if (typeof shasum === "string" && /^[0-9a-f]{40}$/i.test(shasum)) sums.sha1 = shasum.toLowerCase();
  if (typeof integrity !== "string" || integrity.length > MAX_INTEGRITY_CHARS) return sums;
  for (const token of integrity.split(/\s+/)) {
    const [, algorithm, base64 = ""] = /^(sha512|sha256|sha1)-([A-Za-z0-9+/]+={0,2})(?:\?.*)?$/.exec(token) ?? [];
    if (algorithm === "sha512" || algorithm === "sha256" || algorithm === "sha1")
      sums[algorithm] ??= Buffer.from(base64, "base64").toString("hex");
  }
  return sums;
}

/** Longer texts are no names of licenses: a policy takes them for unknown, of whatever length. */
const MAX_LICENSE_CHARS = 301;
/** Nobody gives the choice among more than this. */
const MAX_CHOICES = 20;

/** The license that a manifest names, in any of the forms that there have been. */
export function licenseOf(manifest: Manifest): string | undefined {
  const { license, licenses } = manifest;
  const nameOf = (given: unknown): string | undefined => {
    const text = isRecord(given) ? given["type"] : given;
    return typeof text === "string" && text !== "" ? text.slice(0, MAX_LICENSE_CHARS) : undefined;
  };
  if (license !== undefined && !Array.isArray(license)) return nameOf(license);
  const several = Array.isArray(license) ? license : Array.isArray(licenses) ? licenses : [licenses];
  if (several.length > MAX_CHOICES) return `one of more than ${MAX_CHOICES} licenses`;
  const names = several.flatMap((each) => nameOf(each) ?? []);
  // More than one means a choice.
  return names.length === 0 ? undefined : names.join(" OR ").slice(0, MAX_LICENSE_CHARS);
}

/** The license of a version that is offered. */
export function offeredLicense({ manifest, hasManyLicenses }: OfferedVersion): string | undefined {
  return hasManyLicenses === true ? `one of more than ${MAX_LICENSES} licenses of the package` : licenseOf(manifest);
}
