import { compareApk, isApkVersion } from "./apk.ts";
import { compareComposer, isComposerVersion } from "./composer.ts";
import { compareCran, isCranVersion } from "./cran.ts";
import { compareDpkg, isDpkgVersion } from "./dpkg.ts";
import { compareMaven, isMavenVersion } from "./maven.ts";
import { compareNuget, isNugetVersion } from "./nuget.ts";
import { comparePub } from "./pub.ts";
import { comparePypi, isPypiVersion } from "./pypi.ts";
import { compareRpm, isRpmVersion } from "./rpm.ts";
import { compareRubygems, isRubygemsVersion } from "./rubygems.ts";
import { compareSemver, isSemver } from "./semver.ts";
import type { Sign } from "./text.ts";

export { isMavenPrerelease } from "./maven.ts";
export { mavenKey } from "./maven-key.ts";
export { pypiKey } from "./pypi-key.ts";
export { numberKey, semverKey } from "./sort-keys.ts";

/**
 * How versions follow each other: `dpkg` for Debian and Ubuntu, `apk` for Alpine and Wolfi, `rpm` for Red Hat, Rocky
 * and Alma, `semver` for npm, crates.io, Go, Hex and Swift, `pypi`, `maven`, `composer` for PHP, `rubygems`, `nuget`,
 * `cran` for R, `pub` for Dart.
 */
export type VersionOrder =
  | "dpkg"
  | "apk"
  | "rpm"
  | "semver"
  | "pypi"
  | "maven"
  | "composer"
  | "rubygems"
  | "nuget"
  | "cran"
  | "pub";

const ORDERS: Readonly<
  Record<VersionOrder, { compare: (a: string, b: string) => Sign; isVersion: (text: string) => boolean }>
> = {
  dpkg: { compare: compareDpkg, isVersion: isDpkgVersion },
  apk: { compare: compareApk, isVersion: isApkVersion },
  rpm: { compare: compareRpm, isVersion: isRpmVersion },
  semver: { compare: compareSemver, isVersion: isSemver },
  pypi: { compare: comparePypi, isVersion: isPypiVersion },
  maven: { compare: compareMaven, isVersion: isMavenVersion },
  composer: { compare: compareComposer, isVersion: isComposerVersion },
  rubygems: { compare: compareRubygems, isVersion: isRubygemsVersion },
  nuget: { compare: compareNuget, isVersion: isNugetVersion },
  cran: { compare: compareCran, isVersion: isCranVersion },
  pub: { compare: comparePub, isVersion: isSemver },
};

/**
 * Negative when `a` is earlier than `b`, 0 when they are the same version, positive when it is later. Every order takes
 * every text and is antisymmetric; all but Maven's are transitive, too. Where texts stand that are no versions, each
 * order's function says. The time is linear in the length.
 */
export function compareVersions(order: VersionOrder, a: string, b: string): number {
  return Math.sign(ORDERS[order].compare(a, b));
}

/**
 * compareVersions of a version that is there and one that a range, a list or a rule names. What names no local version,
 * such as 2.5.0 in Python, takes those that are: 2.5.0+cpu is no later. Source: PEP 440, "version specifiers".
 */
export function compareWithNamed(order: VersionOrder, version: string, named: string): number {
  const isLocal = order === "pypi" && version.includes("+") && !named.includes("+");
  return compareVersions(order, isLocal ? version.slice(0, version.indexOf("+")) : version, named);
}

/** Whether a version that is there is the one that is named, perhaps in another writing; see compareWithNamed. */
export function isNamedVersion(order: VersionOrder, version: string, named: string): boolean {
  if (version === named) return true;
  return isVersion(order, version) && isVersion(order, named) && compareWithNamed(order, version, named) === 0;
}

/** Whether the text is a version by the rules of its ecosystem. */
export function isVersion(order: VersionOrder, text: string): boolean {
  return ORDERS[order].isVersion(text);
}
