// One reading of package URLs: whoever reads, compares or writes one does it by these.

export { comparableArchitecture } from "./architectures.ts";
export {
  distributionId,
  distributionOfCpe,
  namespaceOf,
  readRelease,
  type Release,
  releaseOf,
  versionNamed,
} from "./distributions.ts";
export { goVersion } from "./go-versions.ts";
export { isSourcePurl, keysOfPackage, purlMatcher, type PurlOfPackage } from "./match.ts";
export { normalPurl, otherClassifier } from "./normal.ts";
export { fullNameIn, isPurl, parsedPurl, PurlError, readPurl } from "./parse.ts";

export type { Purl } from "./purl.ts";
export { fullName, IMAGE_TYPES, isOfDistribution, namedPurl, orderOfType, purlKey, pypiName } from "./types.ts";
export { purlWithoutVersion, withBarePlus, writePurl } from "./write.ts";
