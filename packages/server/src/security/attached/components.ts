import { PackageURL } from "packageurl-js";
import { isSound } from "../catalog/catalog-image.ts";
import type { Component } from "../catalog/types.ts";

/** A package as a document has it; texts are empty where it says nothing. */
export interface StatedPackage {
  purl: string;
  version: string;
  licence: string;
  sourceName: string;
  sourceVersion: string;
  layer: string;
  path: string;
}

/** The distribution that a document says the image has, such as `debian` and `12`. */
export interface StatedDistribution {
  id: string;
  version: string;
}

const MAX_PURL = 2_048;
const MAX_PART = 512;
const MAX_PATH = 1_024;
/** The image itself, and what it was built of. */
const IMAGES: ReadonlySet<string> = new Set(["oci", "docker"]);
const OF_DISTRIBUTIONS: ReadonlySet<string> = new Set(["deb", "apk", "rpm"]);
/** Names of distributions in purls that are not the ID of their os-release. */
const IDS: Readonly<Record<string, string>> = { redhat: "rhel", "rocky-linux": "rocky", alma: "almalinux" };
/** The letters of a distribution's ID and version, as in `debian-12` or `v3.20`. */
const DISTRO = /^[\w.+~-]{1,128}$/;

/**
 * The package in the form in which the server's own reading has it, so that both match the same records. Undefined for
 * what is no package: images, and purls that cannot be read.
 */
export function componentOf(
  stated: StatedPackage,
  reader: string,
  distribution: StatedDistribution | undefined,
): Component | undefined {
  const purl = parsed(stated.purl);
  if (purl === undefined || IMAGES.has(purl.type)) return undefined;
  const version = purl.version || stated.version;
  if (purl.name.length > MAX_PART || version.length > MAX_PART) return undefined;
  const source = upstreamOf(purl);
  const component = {
    ...written(purl, version, distribution),
    sourceName: source?.name || stated.sourceName,
    sourceVersion: source?.version || stated.sourceVersion,
    licence: stated.licence,
    layer: stated.layer.slice(0, MAX_PATH),
    path: stated.path.slice(0, MAX_PATH),
    reader,
  };
  return isSound(component) && Object.values(component).every((text) => text.isWellFormed()) ? component : undefined;
}

function parsed(text: string): PackageURL | undefined {
  if (text === "" || text.length > MAX_PURL) return undefined;
  try {
    return PackageURL.fromString(text);
  } catch {
    return undefined;
  }
}

function written(
  { type, namespace, name, qualifiers }: PackageURL,
  version: string,
  distribution: StatedDistribution | undefined,
): Pick<Component, "purl" | "name" | "version"> {
  if (!OF_DISTRIBUTIONS.has(type)) {
    const own = type === "pypi" ? name.toLowerCase().replaceAll(/[-_.]+/g, "-") : name;
    const purl = new PackageURL(type, namespace, own, version, undefined, undefined).toString();
    const full = namespace ? `${namespace}${type === "maven" ? ":" : "/"}${name}` : name;
    return { purl, name: full, version };
  }
  const { arch, distro = "", epoch } = (qualifiers ?? {}) as Record<string, string | undefined>;
  const kept = { arch, distro: distroOf(distro, namespace ?? "", distribution), epoch };
  const given = Object.fromEntries(Object.entries(kept).filter((pair): pair is [string, string] => Boolean(pair[1])));
  const purl = new PackageURL(type, namespace, name, version, given, undefined).toString();
  return { purl, name, version: type === "rpm" && epoch && epoch !== "0" ? `${epoch}:${version}` : version };
}

/** The ID and VERSION_ID of the distribution, as the server's own reading writes them. */
function distroOf(stated: string, namespace: string, distribution: StatedDistribution | undefined): string | undefined {
  const named = DISTRO.test(stated) ? stated : "";
  // The version begins after the first dash that a digit follows, as in opensuse-leap-15.6.
  const cut = /^[a-z][\w.-]*-v?\d/i.test(named) ? named.search(/-v?\d/i) : -1;
  const version = named.slice(cut + 1).replace(/^v/i, "");
  if (/^\d/.test(version)) return `${idOf(cut < 0 ? namespace : named.slice(0, cut))}-${version}`;
  if (distribution === undefined) return stated || undefined;
  return [idOf(distribution.id), distribution.version].filter((part) => part !== "").join("-");
}

function idOf(name: string): string {
  const lower = name.toLowerCase();
  return IDS[lower] ?? lower;
}

/** The source package: `upstream=openssl@3.0.11` or the name of a source rpm. Source: purl-spec; Syft. */
function upstreamOf({ qualifiers }: PackageURL): { name: string; version: string } | undefined {
  const { upstream } = (qualifiers ?? {}) as Record<string, string | undefined>;
  if (!upstream) return undefined;
  const rpm = /^(.+)-([^-]+-[^-]+)\.(?:no)?src\.rpm$/.exec(upstream);
  if (rpm !== null) return { name: rpm[1] ?? "", version: rpm[2] ?? "" };
  const at = upstream.lastIndexOf("@");
  return at <= 0 ? { name: upstream, version: "" } : { name: upstream.slice(0, at), version: upstream.slice(at + 1) };
}
