import parseExpression from "spdx-expression-parse";
import type { Subject } from "./cyclonedx.ts";
import type { HeldPackage, Holdings } from "../images/holdings.ts";

const NONE = "NOASSERTION";
const ROOT = "SPDXRef-Image";

/** The SPDX 2.3 document. It is the same at each reading. Source: SPDX specification 2.3, JSON. */
export function spdxOf({ name, digest }: Subject, { packages, readMs, sources }: Holdings): object {
  const unsaid = { downloadLocation: NONE, filesAnalyzed: false, licenseConcluded: NONE, copyrightText: NONE };
  return {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `${name}@${digest}`,
    documentNamespace: `https://moorage.dev/spdx/${name}/${digest}`,
    creationInfo: {
      created: new Date(readMs).toISOString().replace(/\.\d+Z$/, "Z"),
      creators: ["Tool: moorage"],
    },
    documentDescribes: [ROOT],
    packages: [
      { SPDXID: ROOT, name, versionInfo: digest, primaryPackagePurpose: "CONTAINER", licenseDeclared: NONE, ...unsaid },
      ...packages.map((each) => ({
        SPDXID: idOf(each),
        name: each.name,
        versionInfo: each.version,
        licenseDeclared: isExpression(each.licence) ? each.licence : NONE,
        ...unsaid,
        ...(each.licence !== "" && !isExpression(each.licence) && { licenseComments: `as stated: ${each.licence}` }),
        sourceInfo: sourceOf(each),
        ...(sources.length > 1 && { comment: saidBy(each) }),
        externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: each.purl }],
      })),
    ],
    relationships: [
      { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: ROOT },
      ...packages.map((each) => ({
        spdxElementId: ROOT,
        relationshipType: "CONTAINS",
        relatedSpdxElement: idOf(each),
      })),
    ],
  };
}

function idOf({ id }: HeldPackage): string {
  return `SPDXRef-Package-${id}`;
}

function sourceOf({ sourceName, sourceVersion, places, platforms }: HeldPackage): string {
  const lines = [`source package ${sourceName} ${sourceVersion}`];
  for (const { layer, path } of places) lines.push(`${path} of layer ${layer}`);
  if (platforms.length > 0) lines.push(`on ${platforms.join(", ")}`);
  return lines.join("; ");
}

/** Who says that the image holds it, and who says otherwise. */
function saidBy({ sources, contradictions }: HeldPackage): string {
  const others = contradictions.map(({ source, versions }) => `contradicted by ${source}: ${versions.join(", ")}`);
  return [`said by ${sources.join(", ")}`, ...others].join("; ");
}

function isExpression(licence: string): boolean {
  try {
    parseExpression(licence);
    return true;
  } catch {
    return false;
  }
}
