/** An artifact and a version of it that a name of a file or a manifest may mean. */
export type Candidate = readonly [artifact: string, version: string];

const MAX_NAME = 200;
/** `log4j-1.2-api-2.14.1` may be cut in two places. */
const MAX_CUTS = 4;
/** What versions have beside numbers. What else follows a version in the name of a file is a classifier. */
const QUALIFIER =
  /^(?:\d+(?:[a-z]{1,2}\d*)?|v\d+|r\d+|[ab]\d+|(?:final|release|ga|incubating|snapshot|android|ea|java|redhat)|(?:sp|m|rc|cr|alpha|beta|jre|jdk|pre|patch|hotfix)\d*)$/i;

/** The name of an archive without folders and its ending, cut to a length that no real one has. */
export function stemOf(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .replace(/\.\w{3}$/, "")
    .slice(0, MAX_NAME);
}

/** What `<artifact>-<version>` may mean, the shortest artifact first; empty for a name without a version. */
export function cutsOf(stem: string): Candidate[] {
  const cuts: Candidate[] = [];
  for (let at = stem.indexOf("-"); at >= 0 && cuts.length < MAX_CUTS; at = stem.indexOf("-", at + 1))
    if (at > 0 && /^\d/.test(stem.slice(at + 1, at + 2))) cuts.push([stem.slice(0, at), stem.slice(at + 1)]);
  return cuts.filter(([artifact]) => /^[\w.-]+$/.test(artifact));
}

/**
 * What the name of the file means beside the versions of the manifest: where that states one, only what has the same
 * numbers, and without a classifier behind it; where it states none, only what is a version as a whole. `isOther`: the
 * name has a version, and the manifest another one.
 */
export function candidatesOf(stem: string, versions: readonly string[]): { found: Candidate[]; isOther: boolean } {
  const cuts = cutsOf(stem);
  if (versions.length === 0) return { found: cuts.filter(([, version]) => isVersion(version)), isOther: false };
  const found = cuts.flatMap(([artifact, version]): Candidate[] => {
    if (!versions.some((each) => isSameRelease(each, version))) return [];
    if (isVersion(version)) return [[artifact, version]];
    const stated = versions.find((each) => version.startsWith(`${each}-`));
    return stated === undefined ? [] : [[artifact, stated]];
  });
  return { found, isOther: cuts.length > 0 && found.length === 0 };
}

/**
 * The version of an archive whose file has none in its name. Undefined where the manifest states none, or one alone
 * that OSGi may have changed: it asks for three numbers and a dot before the rest, where 1.30 becomes 1.30.0.
 */
export function statedVersion(versions: readonly string[]): string | undefined {
  const [first, second] = versions;
  if (first === undefined) return undefined;
  if (second !== undefined) return isSameRelease(first, second) && second.length < first.length ? second : first;
  return /^\d+\.\d+\.(?:0$|\d+\.)/.test(first) ? undefined : first;
}

/**
 * The version of an artifact that was built from the pom with these coordinates: that of the pom, with what follows it
 * after a dot in the name of the file. A build that makes `10.2.0.jre8` and `10.2.0.jre11` from one pom leaves 10.2.0
 * in that. What follows a hyphen may be a classifier.
 */
export function builtVersion(stem: string, { name, version }: { name: string; version: string }): string {
  const inFile = cutsOf(stem).find(([artifact, each]) => artifact === name && each.startsWith(`${version}.`))?.[1];
  const more = inFile?.slice(version.length + 1) ?? "";
  return inFile !== undefined && /^[a-z]/i.test(more) && QUALIFIER.test(more) ? inFile : version;
}

/** Whether the numbers that two versions begin with are the same, without zeros at the end, or those of one go on. */
export function isSameRelease(a: string, b: string): boolean {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const count = Math.min(left.length, right.length);
  return count > 0 && left.slice(0, count).join(".") === right.slice(0, count).join(".");
}

function numbersOf(version: string): string[] {
  const parts: string[] = [];
  for (const part of version.slice(0, MAX_NAME).split(/[.-]/)) {
    if (!/^\d+$/.test(part)) break;
    parts.push(part.replace(/^0+(?=\d)/, ""));
  }
  while (parts.at(-1) === "0" && parts.length > 1) parts.pop();
  return parts;
}

function isVersion(text: string): boolean {
  return text.split(/[.\-_+]/).every((part) => QUALIFIER.test(part));
}
