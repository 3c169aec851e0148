import { isNamedVersion } from "../versions/index.ts";
import { comparableArchitecture, isSource } from "./architectures.ts";
import { isInRelease, readRelease } from "./distributions.ts";
import { epochVersion, otherClassifier } from "./normal.ts";
import { createLru } from "../lru.ts";
import { parsedPurl as parsed } from "./parse.ts";
import type { Purl } from "./purl.ts";
import { goVersion } from "./go-versions.ts";
import { isOfDistribution, orderOfType, purlKey } from "./types.ts";

/** The same packages are compared with many statements: those that were read last are not read again. */
const READ = createLru<string, { purl: Purl | undefined }>(4_000);
const MAX_KEPT_CHARS = 500;

function parsedPurl(text: string): Purl | undefined {
  if (text.length > MAX_KEPT_CHARS) return parsed(text);
  const known = READ.get(text);
  if (known !== undefined) return known.purl;
  const purl = parsed(text);
  READ.set(text, { purl });
  return purl;
}

/** A package that is there, such as one of an image. */
export interface PurlOfPackage {
  purl: string;
  /** The source package that it was built from, for packages of distributions. */
  source?: { name: string; version: string } | undefined;
}

/**
 * The test whether a package is one that the package URL means: the same type, namespace and name, and the same
 * version and qualifiers as far as the package URL has them. One of a source package means what is built from it.
 * Undefined for a text that is no package URL. Sources: purl-spec; OpenVEX 0.2, "Product identification".
 */
export function purlMatcher(text: string): ((held: PurlOfPackage) => boolean) | undefined {
  const wanted = parsedPurl(text);
  if (wanted === undefined) return undefined;
  const key = purlKey(wanted);
  const isOfSource = isSourcePurl(wanted);
  return ({ purl, source }) => {
    const held = parsedPurl(purl);
    if (held === undefined || held.type !== wanted.type) return false;
    const isItself = purlKey(held) === key && isSameVersion(wanted, held) && isSameBuild(wanted, held);
    if (isItself && (!isOfSource || isSourcePurl(held))) return true;
    if (!isOfSource || source === undefined) return false;
    return isBuiltFrom(wanted, key, sourceOf(held, source));
  };
}

/** What packages are found by: their own key, and that of the source that they are built from. See purlKey. */
export function keysOfPackage({ purl, source }: PurlOfPackage): string[] {
  const held = parsedPurl(purl);
  if (held === undefined) return [];
  const own = purlKey(held);
  if (!isOfDistribution(held.type) || !source || source.name === "" || source.name === held.name) return [own];
  return [own, purlKey({ ...held, name: source.name })];
}

/** Whether the package URL is of a source package of a distribution. */
export function isSourcePurl({ type, qualifiers }: Pick<Purl, "type" | "qualifiers">): boolean {
  return isOfDistribution(type) && isSource(qualifiers.get("arch") ?? "");
}

/** The source that the package was built from, as a package URL. An RPM's source is named without the epoch. */
function sourceOf(held: Purl, source: { name: string; version: string }): Purl {
  const { epoch, version } = epochVersion(held.version, held.qualifiers.get("epoch"));
  const own = held.type === "rpm" ? version : epoch === "" ? version : `${epoch}:${version}`;
  return { ...held, name: source.name || held.name, version: source.version || own };
}

function isBuiltFrom(wanted: Purl, key: string, source: Purl): boolean {
  return purlKey(source) === key && isSameVersion(wanted, source) && isSameDistribution(wanted, source);
}

function isSameBuild(wanted: Purl, held: Purl): boolean {
  if (!isOfDistribution(wanted.type)) return otherClassifier(wanted) === otherClassifier(held);
  const [arch, other] = [wanted, held].map(({ qualifiers }) => qualifiers.get("arch"));
  const isArchitecture = arch === undefined || comparableArchitecture(arch) === comparableArchitecture(other ?? "");
  return isArchitecture && isSameDistribution(wanted, held);
}

/** A statement about a release is one about its updates: debian-12 holds for debian-12.5. */
function isSameDistribution(wanted: Purl, held: Purl): boolean {
  const [distro, other] = [wanted, held].map(({ qualifiers }) => qualifiers.get("distro"));
  if (distro === undefined || distro === other) return true;
  if (other === undefined) return false;
  const [said, ours] = [readRelease(distro, wanted.namespace), readRelease(other, held.namespace)];
  return said === undefined || ours === undefined ? other.startsWith(`${distro}.`) : isInRelease(ours, said);
}

/** A version that is not said is any. */
function isSameVersion(wanted: Purl, held: Purl): boolean {
  const { type } = wanted;
  if (!isOfDistribution(type)) return wanted.version === "" || isSame(type, wanted.version, held.version);
  const [said, ours] = [wanted, held].map(({ version, qualifiers }) => epochVersion(version, qualifiers.get("epoch")));
  if (said === undefined || ours === undefined) return false;
  // Of RPMs the epoch often is not said; a deb without it is another version.
  const isEpoch = said.epoch === ours.epoch || (type === "rpm" && !hasEpoch(wanted)) || said.version === "";
  return isEpoch && (said.version === "" || isSame(type, said.version, ours.version));
}

const hasEpoch = ({ version, qualifiers }: Purl): boolean => qualifiers.has("epoch") || /^[0-9]+:/.test(version);

function isSame(type: string, wanted: string, held: string): boolean {
  if (wanted === held) return true;
  const order = orderOfType(type);
  const [said, ours] = type === "golang" ? [goVersion(wanted), goVersion(held)] : [wanted, held];
  return said === ours || (order !== undefined && isNamedVersion(order, ours, said));
}
