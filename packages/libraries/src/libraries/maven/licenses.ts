import { usualLicense } from "../policies/licenses.ts";
import type { PomLicense } from "./pom.ts";

/** By what stands in a URL, those of which POMs often have no usual name. */
const BY_URL: readonly (readonly [RegExp, string])[] = [
  [/apache\.org\/licenses\/LICENSE-2\.0/i, "Apache-2.0"],
  [/opensource\.org\/licenses?\/mit/i, "MIT"],
  [/eclipse\.org\/(legal\/epl-2\.0|org\/documents\/epl-2\.0)/i, "EPL-2.0"],
  [/eclipse\.org\/(legal\/epl-v10|org\/documents\/epl-v10)/i, "EPL-1.0"],
];
/** By their names, those that would be taken for another one. */
const BY_NAME: readonly (readonly [(name: string) => boolean, string])[] = [
  [isThreeClauseBsd, "BSD-3-Clause"],
  [(name) => /\bCDDL\s*\+\s*GPL/i.test(name), "CDDL-1.1 OR GPL-2.0-only WITH Classpath-exception-2.0"],
  [hasClasspathException, "GPL-2.0-only WITH Classpath-exception-2.0"],
];
/** What of a name or a URL is read: POMs come from anybody, and have texts of any length there. */
const MAX_CHARS = 200;

/**
 * The license of a project as one text: empty for none. Of several the user has the choice, as Maven's POM reference
 * says: they are joined to an expression of SPDX, in which one without an id there is a LicenseRef.
 */
export function licenseOf(licenses: readonly PomLicense[]): string {
  const named = licenses
    .map(({ name, url }) => ({ name: name.slice(0, MAX_CHARS), url: url.slice(0, MAX_CHARS) }))
    .filter(({ name, url }) => name !== "" || url !== "");
  const [first] = named;
  if (first === undefined) return "";
  if (named.length === 1) return idOf(first) ?? textOf(first);
  return [...new Set(named.map((one) => idOf(one) ?? referenceOf(one)))].join(" OR ");
}

function idOf(license: PomLicense): string | undefined {
  const [, known] =
    BY_NAME.find(([isOne]) => isOne(license.name)) ?? BY_URL.find(([pattern]) => pattern.test(license.url)) ?? [];
  return known ?? usualLicense(license.name);
}

function isThreeClauseBsd(name: string): boolean {
  return (/\bBSD\b/i.test(name) && /\b3\b/.test(name)) || /\b(?:new|revised|modified) BSD\b/i.test(name);
}

function hasClasspathException(name: string): boolean {
  const start = name.search(/\bGPL|\bGeneral Public License/i);
  return start >= 0 && /\bclasspath\b/i.test(name.slice(start));
}

function textOf({ name, url }: PomLicense): string {
  return name === "" ? url : name;
}

function referenceOf(license: PomLicense): string {
  return `LicenseRef-${textOf(license).replaceAll(/[^A-Za-z0-9.]+/g, "-")}`;
}
