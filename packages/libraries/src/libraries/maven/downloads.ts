import type { PomMetadata } from "./pom-facts.ts";

// What is fetched along with a file that is installed, or by those who read it.
const ASIDE = [".asc", ".sigstore.json", ".module", "-sources.jar", "-javadoc.jar"] as const;

interface KeptFile {
  name: string;
  metadata: string;
}

/**
 * What counts as a download of a Maven artifact. Clients fetch the POM of each version that they consider, so that only
 * those count that are all there is of an artifact: parents and lists of versions, whose packaging is `pom`.
 */
export const mavenDownloads = {
  counts: (file: KeptFile): boolean =>
    isPom(file) ? packagingOf(file) === "pom" : !ASIDE.some((ending) => file.name.endsWith(ending)),
  isUnsure: (file: KeptFile): boolean => isPom(file) && packagingOf(file) === undefined,
};

function isPom({ name }: KeptFile): boolean {
  return name.endsWith(".pom");
}

function packagingOf({ metadata }: KeptFile): string | undefined {
  return (JSON.parse(metadata) as PomMetadata).packaging;
}
