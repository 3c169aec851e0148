import { compareVersions, compareWithNamed, isVersion, type VersionOrder } from "./index.ts";

/** A text that is no version range. The message says why, for people. */
export class VersionRangeError extends Error {}

/** A range of versions. */
export interface VersionRange {
  has(version: string): boolean;
}

interface Constraint {
  comparator: string;
  version: string;
}

const FORM = /^vers:([a-z][a-z0-9.-]*)\/(.+)$/;
const COMPARATOR = /^(?:>=|<=|!=|[<>=])?/;
const MAX_CONSTRAINTS = 100;

/**
 * Reads a version range specifier such as `vers:npm/>=1.0.0|<1.4.0`. `order`: that of the versions of `scheme`, which
 * the specifier has to name. Constraints may stand in any order. Throws VersionRangeError. Source: VERS, the version
 * range specifier of package-url.
 */
export function parseVersionRange(
  text: string,
  { scheme, order }: { scheme: string; order: VersionOrder },
): VersionRange {
  const [, named, list = ""] = FORM.exec(text.replaceAll(/\s/g, "")) ?? [];
  if (named === undefined) throw new VersionRangeError("must be as in vers:npm/>=1.0.0|<1.4.0");
  if (named !== scheme) throw new VersionRangeError(`must be a range of vers:${scheme}/`);
  if (list === "*") return { has: () => true };
  const texts = list.split("|");
  if (texts.length > MAX_CONSTRAINTS) throw new VersionRangeError(`has more than ${MAX_CONSTRAINTS} constraints`);
  const constraints = texts.map((each) => constraintOf(each, order));
  constraints.sort((a, b) => compareVersions(order, a.version, b.version));
  for (const [at, { version }] of constraints.entries()) {
    const next = constraints[at + 1];
    if (next !== undefined && compareVersions(order, version, next.version) === 0)
      throw new VersionRangeError(`names the version ${version} twice`);
  }
  const bounds = constraints.filter(({ comparator }) => comparator !== "=" && comparator !== "!=");
  const intervals = intervalsOf(bounds);
  const isSame = (a: string, b: string): boolean => compareVersions(order, a, b) === 0;
  return {
    has(version) {
      if (!isPlaced(order, version)) return false;
      const named =
        constraints.find((each) => isSame(each.version, version)) ??
        constraints.find((each) => compareWithNamed(order, version, each.version) === 0);
      if (named !== undefined) return named.comparator.includes("=") && named.comparator !== "!=";
      return intervals.some(
        ({ from, to }) =>
          (from === undefined || compareVersions(order, version, from) > 0) &&
          (to === undefined || compareVersions(order, version, to) < 0),
      );
    },
  };
}

function constraintOf(text: string, order: VersionOrder): Constraint {
  const comparator = COMPARATOR.exec(text)?.[0] ?? "";
  let version: string;
  try {
    version = decodeURIComponent(text.slice(comparator.length));
  } catch {
    throw new VersionRangeError("has a version that is not valid percent-encoding");
  }
  if (!isPlaced(order, version)) throw new VersionRangeError(`has ${JSON.stringify(version)}, which is no version`);
  return { comparator: comparator === "" ? "=" : comparator, version };
}

function isPlaced(order: VersionOrder, version: string): boolean {
  return version !== "" && (order === "maven" || isVersion(order, version));
}

/** What lies between the bounds, which are in the order of their versions. Undefined: without end. */
function intervalsOf(bounds: readonly Constraint[]): { from?: string; to?: string }[] {
  const intervals: { from?: string; to?: string }[] = [];
  let open: string | undefined;
  for (const [at, { comparator, version }] of bounds.entries()) {
    const isLower = comparator.startsWith(">");
    if (isLower === (open !== undefined) && (at > 0 || isLower))
      throw new VersionRangeError("must have lower and upper bounds by turns");
    if (isLower) open = version;
    else {
      intervals.push(open === undefined ? { to: version } : { from: open, to: version });
      open = undefined;
    }
  }
  if (open !== undefined) intervals.push({ from: open });
  return intervals;
}
