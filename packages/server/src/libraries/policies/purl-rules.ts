import { PackageURL } from "packageurl-js";
import { compareVersions, isVersion, type VersionOrder } from "../../lib/versions/index.ts";
import { parseVersionRange, VersionRangeError } from "../../lib/versions/vers.ts";
import { type Wildcard, wildcard } from "../../lib/wildcard.ts";
import type { EcosystemKey } from "../ecosystems.ts";
import { normalizedName } from "../pypi/names.ts";

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
  const { type, version, qualifiers = {}, subpath, ...given } = purlOf(text);
  if (type !== ecosystem) throw new PurlRuleError(`must be a package URL of pkg:${ecosystem}/`);
  if (subpath !== undefined && subpath !== "") throw new PurlRuleError("must have no subpath");
  const { vers, ...others } = qualifiers;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new PurlRuleError(`must have no qualifier but vers, not ${unknown}`);
  const named = comparable(ecosystem, { namespace: given.namespace ?? "", name: given.name });
  const namespace = namePattern(named.namespace);
  const name = namePattern(named.name);
  const versions = versionsOf(ecosystem, version ?? "", vers ?? "");
  return {
    text,
    isExact: versions.isExact && namespace.stars === 0 && name.stars === 0,
    matchesName: (of) => namespace.matches(of.namespace) && name.matches(of.name),
    matchesVersion: versions.matches,
  };
}

interface Purl {
  type: string;
  namespace?: string | undefined;
  name: string;
  version?: string | undefined;
  qualifiers?: Readonly<Record<string, string>> | undefined;
  subpath?: string | undefined;
}

function purlOf(text: string): Purl {
  try {
    return PackageURL.fromString(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Invalid purl: /, "") : "";
    throw new PurlRuleError(
      `must be a package URL such as pkg:npm/left-pad@1.3.0${reason === "" ? "" : `: ${reason}`}`,
    );
  }
}

function comparable(ecosystem: EcosystemKey, { namespace, name }: PackageName): PackageName {
  if (ecosystem === "maven") return { namespace, name };
  if (ecosystem === "pypi") return { namespace, name: normalizedName(name) };
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
  const isKnown = isVersion(order, version);
  return {
    isExact: true,
    matches: (other) =>
      other === version || (isKnown && isVersion(order, other) && compareVersions(order, other, version) === 0),
  };
}

function namePattern(text: string): Wildcard {
  const pattern = wildcard(text);
  if (pattern.stars > MAX_STARS) throw new PurlRuleError(`must have at most ${MAX_STARS} times * in a name`);
  return pattern;
}
