import type { Stated } from "./cyclonedx.ts";
import type { StatedPackage } from "./components.ts";
import { objectsIn, textOf } from "./fields.ts";
import { AttachedError } from "./types.ts";

const VERSIONS = ["SPDX-2.2", "SPDX-2.3"];
const UNSAID: ReadonlySet<string> = new Set(["", "NOASSERTION", "NONE"]);
/** What Trivy and this server write. */
const SOURCE = /^(?:built package from:|source package) (\S+) ([^\s;]+)/;

/**
 * The packages of an SPDX document that have a purl. Throws an AttachedError that names the field. Source: SPDX 2.2 and
 * 2.3, JSON.
 */
export function spdxPackages(document: Record<string, unknown>): Stated {
  if (!VERSIONS.includes(textOf(document["spdxVersion"])))
    throw new AttachedError(`spdxVersion: must be one of ${VERSIONS.join(", ")}`);
  const stated = objectsIn(document["packages"], "packages");
  const os = stated.find((each) => each["primaryPackagePurpose"] === "OPERATING-SYSTEM");
  return {
    packages: stated.flatMap(packageOf),
    distribution: os && { id: textOf(os["name"]), version: textOf(os["versionInfo"]) },
  };
}

function packageOf(each: Record<string, unknown>): StatedPackage[] {
  const references = objectsIn(each["externalRefs"], "packages[].externalRefs");
  const purl = textOf(references.find(({ referenceType }) => referenceType === "purl")?.["referenceLocator"]);
  if (purl === "") return [];
  const [, sourceName = "", sourceVersion = ""] = SOURCE.exec(textOf(each["sourceInfo"])) ?? [];
  const licences = [textOf(each["licenseDeclared"]), textOf(each["licenseConcluded"])];
  return [
    {
      purl,
      version: textOf(each["versionInfo"]),
      licence: licences.find((licence) => !UNSAID.has(licence)) ?? "",
      sourceName,
      sourceVersion,
      layer: "",
      path: "",
    },
  ];
}
