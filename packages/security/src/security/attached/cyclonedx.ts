import { isObject } from "@moorage/kernel/lib/json";
import type { StatedDistribution, StatedPackage } from "./components.ts";
import { objectsIn, textOf } from "./fields.ts";
import { AttachedError } from "./types.ts";

const VERSIONS = ["1.2", "1.3", "1.4", "1.5", "1.6", "1.7"];

/** What a document says of packages, before purls are read. */
export interface Stated {
  packages: StatedPackage[];
  distribution: StatedDistribution | undefined;
}

/**
 * The packages of a CycloneDX document: its components that have a purl, wherever they are nested, without those that
 * it excludes. Throws an AttachedError that names the field. Source: ECMA-424; CycloneDX 1.2 to 1.7, JSON.
 */
export function cycloneDxPackages(document: Record<string, unknown>): Stated {
  const version = textOf(document["specVersion"]);
  if (!VERSIONS.includes(version)) throw new AttachedError(`specVersion: must be one of ${VERSIONS.join(", ")}`);
  const packages: StatedPackage[] = [];
  let distribution: StatedDistribution | undefined;
  const open = [objectsIn(document["components"], "components")];
  for (let some = open.pop(); some !== undefined; some = open.pop())
    for (const component of some) {
      if (component["type"] === "operating-system")
        distribution ??= { id: textOf(component["name"]), version: textOf(component["version"]) };
      if (component["components"] !== undefined)
        open.push(objectsIn(component["components"], "components[].components"));
      const purl = textOf(component["purl"]);
      if (purl !== "" && component["scope"] !== "excluded") packages.push(packageOf(component, purl));
    }
  return { packages, distribution };
}

function packageOf(component: Record<string, unknown>, purl: string): StatedPackage {
  const properties = new Map(
    (Array.isArray(component["properties"]) ? component["properties"] : [])
      .filter(isObject)
      .map(({ name, value }) => [textOf(name), textOf(value)]),
  );
  const first = (...names: string[]): string => names.map((name) => properties.get(name) ?? "").find(Boolean) ?? "";
  const own = splitAt(first("moorage:source"), "@");
  const place = splitAt(first("moorage:place"), " ");
  return {
    purl,
    version: textOf(component["version"]),
    licence: licenceOf(component["licenses"]),
    sourceName: own[0] || first("syft:metadata:source", "syft:metadata:originPackage", "aquasecurity:trivy:SrcName"),
    sourceVersion: own[1] || first("syft:metadata:sourceVersion") || trivyVersion(first),
    layer: place[0] || first("aquasecurity:trivy:LayerDigest"),
    path: place[1] || placeOf(component["evidence"]) || first("syft:location:0:path", "aquasecurity:trivy:FilePath"),
  };
}

/** Trivy states the parts of a source's version one by one. */
function trivyVersion(first: (name: string) => string): string {
  const version = first("aquasecurity:trivy:SrcVersion");
  const [epoch, release] = [first("aquasecurity:trivy:SrcEpoch"), first("aquasecurity:trivy:SrcRelease")];
  if (version === "") return "";
  return `${epoch === "" || epoch === "0" ? "" : `${epoch}:`}${version}${release === "" ? "" : `-${release}`}`;
}

/** The text before the last separator and after it, or for a space the first; both empty without one. */
function splitAt(text: string, separator: "@" | " "): [string, string] {
  const at = separator === "@" ? text.lastIndexOf("@") : text.indexOf(" ");
  return at <= 0 ? ["", ""] : [text.slice(0, at), text.slice(at + 1)];
}

function placeOf(evidence: unknown): string {
  const occurrences: unknown = isObject(evidence) ? evidence["occurrences"] : undefined;
  const first: unknown = Array.isArray(occurrences) ? occurrences[0] : undefined;
  return isObject(first) ? textOf(first["location"]) : "";
}

function licenceOf(licenses: unknown): string {
  const stated = (Array.isArray(licenses) ? licenses : []).filter(isObject).map(({ expression, license }) => {
    const named = isObject(license) ? textOf(license["id"]) || textOf(license["name"]) : "";
    return textOf(expression) || named;
  });
  return stated.filter((each) => each !== "").join(" AND ");
}
