import {
  distributionId,
  fullNameIn,
  IMAGE_TYPES,
  normalPurl,
  parsedPurl,
  type Purl,
  readRelease,
  type Release,
} from "@moorage/kernel/lib/purls";
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
/**
 * The package in the form in which the server's own reading has it, so that both match the same records. Undefined for
 * what is no package: images, and purls that cannot be read.
 */
export function componentOf(
  stated: StatedPackage,
  reader: string,
  distribution: StatedDistribution | undefined,
): Component | undefined {
  if (stated.purl.length > MAX_PURL || !stated.purl.isWellFormed()) return undefined;
  const purl = parsedPurl(stated.purl);
  if (purl === undefined || IMAGE_TYPES.has(purl.type)) return undefined;
  const version = purl.version || stated.version;
  if (purl.name.length > MAX_PART || version.length > MAX_PART || !version.isWellFormed()) return undefined;
  const source = upstreamOf(purl);
  const component = {
    ...normalPurl({ ...purl, version }, distribution && releaseIn(distribution)),
    name: fullNameIn(stated.purl),
    sourceName: source?.name || stated.sourceName,
    sourceVersion: source?.version || stated.sourceVersion,
    licence: stated.licence,
    layer: stated.layer.slice(0, MAX_PATH),
    path: stated.path.slice(0, MAX_PATH),
    reader,
  };
  return isSound(component) && Object.values(component).every((text) => text.isWellFormed()) ? component : undefined;
}

/** The release that the document says the image has, as its os-release has it. */
function releaseIn({ id, version }: StatedDistribution): Release {
  return readRelease(`${id}-${version}`, id) ?? { id: distributionId(id), version };
}

/** The source package: `upstream=openssl@3.0.11` or the name of a source rpm. Source: purl-spec; Syft. */
function upstreamOf({ qualifiers }: Purl): { name: string; version: string } | undefined {
  const upstream = qualifiers.get("upstream");
  if (upstream === undefined) return undefined;
  const rpm = /^(.+)-([^-]+-[^-]+)\.(?:no)?src\.rpm$/.exec(upstream);
  if (rpm !== null) return { name: rpm[1] ?? "", version: rpm[2] ?? "" };
  const at = upstream.lastIndexOf("@");
  return at <= 0 ? { name: upstream, version: "" } : { name: upstream.slice(0, at), version: upstream.slice(at + 1) };
}
