import { otherClassifier, PurlError, type Purl, readPurl } from "@moorage/kernel/lib/purls";
import { isNamedVersion } from "@moorage/kernel/lib/versions";
import { parseVersionRange, VersionRangeError } from "@moorage/kernel/lib/versions/vers";
import { type Wildcard, wildcard } from "@moorage/kernel/lib/wildcard";
import type { Ecosystem, PackageName } from "../ecosystem/ecosystem.ts";

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

/** What a policy asks of an ecosystem. */
type Named = Pick<Ecosystem, "key" | "purl" | "versions">;

const MAX_LENGTH = 1_000;
const MAX_STARS = 4;

/** The name of an artifact, such as `@acme/ui` or `org.acme:app`, in the parts of its package URL. */
export function packageName({ purl }: Pick<Ecosystem, "purl">, normalized: string): PackageName {
  return purl.comparable(purl.partsOf(normalized));
}

/**
 * Reads a package URL of a policy: of a package, of one version, or of a range of them in the qualifier `vers`. A `*`
 * in a name or namespace stands for any characters. Throws PurlRuleError. Source: package-url, "known qualifiers".
 */
export function purlRule(ecosystem: Named, text: string): PurlRule {
  if (text.length > MAX_LENGTH) throw new PurlRuleError(`must have at most ${MAX_LENGTH} characters`);
  const purl = purlIn(text);
  const { type, version, qualifiers, subpath } = purl;
  const { key, purl: rules } = ecosystem;
  if (type !== key) throw new PurlRuleError(`must be a package URL of pkg:${key}/`);
  if (rules.requiredNamespace !== undefined && purl.namespace === "")
    throw new PurlRuleError(`requires a "namespace", ${rules.requiredNamespace}`);
  if (subpath !== "") throw new PurlRuleError("must have no subpath");
  checkQualifiers(rules.packing ?? [], purl);
  const named = rules.comparable(purl);
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

function checkQualifiers(packing: readonly string[], purl: Purl): void {
  const taken = ["vers", ...packing];
  const unknown = [...purl.qualifiers.keys()].find((key) => !taken.includes(key));
  if (unknown !== undefined) throw new PurlRuleError(`must have no qualifier but ${taken.join(", ")}, not ${unknown}`);
  const other = otherClassifier(purl);
  if (other !== "") throw new PurlRuleError(`must be of the artifact itself, not of its classifier ${other}`);
}

function versionsOf(
  { key, versions: { order } }: Named,
  version: string,
  vers: string,
): { isExact: boolean; matches: (version: string) => boolean } {
  if (version !== "" && vers !== "") throw new PurlRuleError("must have a version or the qualifier vers, not both");
  if (vers !== "") {
    try {
      const range = parseVersionRange(vers, { scheme: key, order });
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
