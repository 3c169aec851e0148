import { otherClassifier, PurlError, pypiName, type Purl, readPurl } from "../../lib/purls/index.ts";
import { isNamedVersion, type VersionOrder } from "../../lib/versions/index.ts";
import { parseVersionRange, VersionRangeError } from "../../lib/versions/vers.ts";
import { type Wildcard, wildcard } from "../../lib/wildcard.ts";
import type { EcosystemKey } from "../ecosystems.ts";

/** A package URL of a policy that names no packages. The message says why, for people. */
export class PurlRuleError extends Error {}

/** A package URL of a policy, read. */
export interface PurlRule {
  /** As it stands in the policy. */
  text: string;
  /** Whether it names one package and one version, without `*` and ranges. */
  isExact: boolean;
  matchesName(name: PackageName): boolean;
  matchesVersion(version: string): boolean;
}

/** The name of a package in the parts of its package URL, as its ecosystem compares them. */
export interface PackageName {
  namespace: string;
  name: string;
}

const ORDERS: Readonly<Record<EcosystemKey, VersionOrder>> = { npm: "semver", pypi: "pypi", maven: "maven" };
const MAX_LENGTH = 1_000;
const MAX_STARS = 4;

/** The name of an artifact, such as `@acme/ui` or `org.acme:app`, in the parts of its package URL. */
export function packageName(ecosystem: EcosystemKey, normalized: string): PackageName {
  const at = normalized.indexOf(ecosystem === "maven" ? ":" : "/");
  const [namespace, name] = at < 0 ? ["", normalized] : [normalized.slice(0, at), normalized.slice(at + 1)];
  return comparable(ecosystem, { namespace, name });
}

/**
 * Reads a package URL of a policy: of a package, of one version, or of a range of them in the qualifier `vers`. A `*`
 * in a name or namespace stands for any characters. Throws PurlRuleError. Source: package-url, "known qualifiers".
 */
export function purlRule(ecosystem: EcosystemKey, text: string): PurlRule {
  if (text.length > MAX_LENGTH) throw new PurlRuleError(`must have at most ${MAX_LENGTH} characters`);
  const purl = purlIn(text);
  const { type, version, qualifiers, subpath } = purl;
  if (type !== ecosystem) throw new PurlRuleError(`must be a package URL of pkg:${ecosystem}/`);
  if (ecosystem === "maven" && purl.namespace === "") throw new PurlRuleError('requires a "namespace", the groupId');
  if (subpath !== "") throw new PurlRuleError("must have no subpath");
  checkQualifiers(ecosystem, purl);
  const named = comparable(ecosystem, purl);
  const namespace = namePattern(named.namespace);
  const name = namePattern(named.name);
  const versions = versionsOf(ecosystem, version, qualifiers.get("vers") ?? "");
  return {
    text,
    isExact: versions.isExact && namespace.stars === 0 && name.stars === 0,
    matchesName: (of) => namespace.matches(of.namespace) && name.matches(of.name),
    matchesVersion: versions.matches,
  };
}

function purlIn(text: string): Purl {
  try {
    return readPurl(text);
  } catch (error) {
    if (!(error instanceof PurlError)) throw error;
    throw new PurlRuleError(`must be a package URL such as pkg:npm/left-pad@1.3.0, but it ${error.message}`);
  }
}

/** What package URLs of Maven say of how the artifact is packed, which all of it is. */
const PACKING: readonly string[] = ["type", "classifier"];

function checkQualifiers(ecosystem: EcosystemKey, purl: Purl): void {
  const taken = ["vers", ...(ecosystem === "maven" ? PACKING : [])];
  const unknown = [...purl.qualifiers.keys()].find((key) => !taken.includes(key));
  if (unknown !== undefined) throw new PurlRuleError(`must have no qualifier but ${taken.join(", ")}, not ${unknown}`);
  const other = otherClassifier(purl);
  if (other !== "") throw new PurlRuleError(`must be of the artifact itself, not of its classifier ${other}`);
}

function comparable(ecosystem: EcosystemKey, { namespace, name }: PackageName): PackageName {
  if (ecosystem === "maven") return { namespace, name };
  if (ecosystem === "pypi") return { namespace, name: pypiName(name) };
  return { namespace: namespace.toLowerCase(), name: name.toLowerCase() };
}

function versionsOf(
  ecosystem: EcosystemKey,
  version: string,
  vers: string,
): { isExact: boolean; matches: (version: string) => boolean } {
  const order = ORDERS[ecosystem];
  if (version !== "" && vers !== "") throw new PurlRuleError("must have a version or the qualifier vers, not both");
  if (vers !== "") {
    try {
      const range = parseVersionRange(vers, { scheme: ecosystem, order });
      return { isExact: false, matches: range.has };
    } catch (error) {
      if (!(error instanceof VersionRangeError)) throw error;
      throw new PurlRuleError(`its qualifier vers ${error.message}`);
    }
  }
  if (version === "") return { isExact: false, matches: () => true };
  if (version.includes("*"))
    throw new PurlRuleError("must have one version, or a range of them in the qualifier vers, not *");
  return { isExact: true, matches: (other) => isNamedVersion(order, other, version) };
}

function namePattern(text: string): Wildcard {
  const pattern = wildcard(text);
  if (pattern.stars > MAX_STARS) throw new PurlRuleError(`must have at most ${MAX_STARS} times * in a name`);
  return pattern;
}
