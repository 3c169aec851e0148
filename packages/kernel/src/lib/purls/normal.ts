import { architectureOf } from "./architectures.ts";
import { namespaceOf, readRelease, type Release, writeRelease } from "./distributions.ts";
import type { Purl } from "./purl.ts";
import { isOfDistribution } from "./types.ts";
import { writePurl } from "./write.ts";

/** A version of a distribution with its epoch apart; empty without one, which is the same as 0. */
interface EpochVersion {
  epoch: string;
  version: string;
}

const EPOCH = /^([0-9]{1,10}):/;

/** Reads an epoch that stands in the version, or in a qualifier of its own. */
export function epochVersion(version: string, qualifier = ""): EpochVersion {
  const inVersion = EPOCH.exec(version);
  const epoch = (inVersion?.[1] ?? qualifier).replace(/^0+/, "");
  return { epoch, version: inVersion === null ? version : version.slice(inVersion[0].length) };
}

/** What of classifiers of Maven is not the code of the artifact; other classifiers are builds of it. */
const NOT_ITS_CODE: ReadonlySet<string> = new Set(
  "sources source javadoc tests test test-sources test-javadoc".split(" "),
);

/** The classifier of an artifact that is not the code of its name and version; empty otherwise. */
export function otherClassifier({ type, qualifiers }: Pick<Purl, "type" | "qualifiers">): string {
  const classifier = type === "maven" ? (qualifiers.get("classifier") ?? "").toLowerCase() : "";
  return NOT_ITS_CODE.has(classifier) ? classifier : "";
}

/** A package URL in the form in which packages are stored, and its version as its ecosystem writes it. */
export interface NormalPurl {
  purl: string;
  /** With the epoch, if there is one. */
  version: string;
}

/**
 * The package URL in the one form in which packages are stored: without what says where a package came from. `image`:
 * the release of the image that the package is in, for packages of distributions that say none. Throws a URIError for
 * half a character.
 */
export function normalPurl(purl: Purl, image: Release | undefined): NormalPurl {
  const { type, name, qualifiers } = purl;
  if (!isOfDistribution(type)) {
    const { namespace, version } = purl;
    const written = { type, namespace, name, version, qualifiers: { classifier: otherClassifier(purl) } };
    return { purl: writePurl(written), version };
  }
  const { epoch, version } = epochVersion(purl.version, qualifiers.get("epoch"));
  const whole = epoch === "" ? version : `${epoch}:${version}`;
  const stated = qualifiers.get("distro");
  const release = (stated === undefined ? undefined : readRelease(stated, purl.namespace)) ?? image;
  const arch = qualifiers.get("arch");
  return {
    purl: writePurl({
      type,
      namespace: purl.namespace || namespaceOf(release?.id ?? ""),
      name,
      // The epoch of an RPM is a qualifier, that of a deb a part of its version. Source: package-url, purl-types.
      version: type === "rpm" ? version : whole,
      qualifiers: {
        arch: arch === undefined ? undefined : architectureOf(type, arch),
        distro: release === undefined ? stated : writeRelease(release),
        epoch: type === "rpm" ? epoch : undefined,
      },
    }),
    version: whole,
  };
}
