import type { DocumentKind, DocumentReader } from "../ecosystem/document-kind.ts";
import { licenseOf } from "./licenses.ts";
import { isPathName, nameOf, namesInFiles, type Release } from "./paths.ts";
import { pomOf } from "./pom.ts";
import { lastModifiedMs } from "./upstream-paths.ts";

/** What of a POM is kept with a version that came from an upstream. */
export interface PomFacts {
  description: string;
  /** As `licenseOf` has it: empty where the POM itself names none. */
  license: string;
  /** Whose license holds where it names none; null without a parent. */
  parent: Release | null;
  packaging: string;
}

/**
 * What a POM of an upstream says, and when it was put there, in milliseconds since 1970; null where that is not said.
 */
export interface UpstreamPom extends PomFacts {
  publishMs: number | null;
}

/** What `artifact_files.metadata` has of a POM; nothing of one that came before that was noted. */
export type PomMetadata = Partial<Pick<PomFacts, "packaging">>;

/** What `artifact_versions.metadata` has of a version of an upstream: nothing when its POM did not come first. */
export type KeptMetadata = Partial<Pick<PomFacts, "license" | "parent">>;

/** The POM of a release of an upstream. */
export type PomKind = DocumentKind<UpstreamPom, { release: Release }>;

/** How the POM of a release is read. */
export const pomKind: DocumentReader<UpstreamPom, { release: Release }> = {
  parse: (bytes, { release }, { headers, nowMs }) => ({
    ...pomFacts(bytes.toString(), release),
    publishMs: lastModifiedMs(headers, nowMs) ?? null,
  }),
};

const MAX_REASON_CHARS = 256;

/**
 * Reads the POM of a release of an upstream. Throws an Error with the reason for what is no POM, or is that of another
 * artifact. Coordinates with expressions in them, such as `${revision}`, are not compared.
 */
export function pomFacts(text: string, release: Release): PomFacts {
  const pom = pomOf(text);
  if (pom === undefined) throw new Error("the POM is not well-formed XML whose root is project");
  const named = {
    groupId: [release.groupId],
    artifactId: namesInFiles(release.artifactId),
    version: [release.version],
  };
  for (const key of ["groupId", "artifactId", "version"] as const)
    if (!named[key].includes(pom[key]) && pom[key] !== "" && !pom[key].includes("${"))
      throw new Error(
        `the POM of ${nameOf(release)}:${release.version} is that of ${nameOf(pom)}:${pom.version}`.slice(
          0,
          MAX_REASON_CHARS,
        ),
      );
  const { parent } = pom;
  const isPlain = parent !== undefined && Object.values(parent).every(isPathName);
  return {
    description: pom.summary,
    license: licenseOf(pom.licenses),
    parent: isPlain ? parent : null,
    packaging: pom.packaging,
  };
}
