import { type Distribution, DISTRIBUTIONS } from "./distribution-table.ts";

const BY_NAME: ReadonlyMap<string, Distribution> = new Map(
  // Of distributions with one namespace, the last has its name.
  DISTRIBUTIONS.flatMap((each) =>
    [each.id, each.namespace, ...(each.others ?? [])].map((name): [string, Distribution] => [name, each]),
  ),
);
const BY_CPE: ReadonlyMap<string, Distribution> = new Map(
  DISTRIBUTIONS.flatMap((each) => (each.cpes ?? []).map((cpe): [string, Distribution] => [cpe, each])),
);
const BY_CODE_NAME: ReadonlyMap<string, Release> = new Map(
  DISTRIBUTIONS.flatMap(({ id, codeNames = {} }) =>
    Object.entries(codeNames).map(([name, version]): [string, Release] => [name, { id, version }]),
  ),
);

/** A distribution with its version, as its os-release has them: ID and VERSION_ID. The version may be empty. */
export interface Release {
  id: string;
  version: string;
}

/** The ID of the os-release of the distribution that a tool calls so. */
export function distributionId(name: string): string {
  const folded = fold(name);
  return BY_NAME.get(folded)?.id ?? folded;
}

/** The namespace of purls of the distribution that a tool calls so. */
export function namespaceOf(name: string): string {
  const folded = fold(name);
  return BY_NAME.get(folded)?.namespace ?? folded;
}

/** The distribution whose releases the CPEs of this vendor and product name, in lower case; undefined for none. */
export function distributionOfCpe(
  vendor: string,
  product: string,
): Pick<Distribution, "id" | "type" | "namespace" | "numbers"> | undefined {
  return BY_CPE.get(`${vendor}:${product}`);
}

const fold = (name: string): string => name.trim().toLowerCase().replaceAll(" ", "-");

/** The letters of a distribution and its version, as in `debian-12` or `v3.20`. */
const WRITTEN = /^[\w.+~-]{1,128}$/;
const ID = /^[a-z][\w.-]*$/;
const VERSION = /^v?(\d.*)$/;
const OF_PACKAGES = /^(?:el|fc)(\d+)/;

/**
 * The release that the qualifier `distro` of a purl of the namespace means: a code name, an ID with a version or a code
 * name, or a version alone. Undefined for what says nothing that is known.
 */
export function readRelease(distro: string, namespace: string): Release | undefined {
  const text = fold(distro);
  if (!WRITTEN.test(text)) return undefined;
  const named = BY_CODE_NAME.get(text);
  if (named !== undefined) return named;
  if (BY_NAME.has(text)) return { id: distributionId(text), version: "" };
  const version = VERSION.exec(text)?.[1] ?? OF_PACKAGES.exec(text)?.[1];
  if (version !== undefined) return namespace === "" ? undefined : { id: distributionId(namespace), version };
  // The version begins after the first hyphen that a digit follows, as in opensuse-leap-15.6.
  const cut = text.search(/-v?\d/);
  if (cut > 0 && ID.test(text.slice(0, cut)))
    return { id: distributionId(text.slice(0, cut)), version: text.slice(cut + 1).replace(/^v/, "") };
  const hyphen = [...BY_NAME.keys()].find((name) => text.startsWith(`${name}-`))?.length ?? -1;
  const other = hyphen < 0 ? undefined : BY_CODE_NAME.get(text.slice(hyphen + 1));
  return other !== undefined && other.id === distributionId(text.slice(0, hyphen)) ? other : undefined;
}

/** The version of the release with this code name, such as `12` of bookworm; undefined for none. */
export function versionNamed(id: string, codeName: string): string | undefined {
  const named = BY_CODE_NAME.get(fold(codeName));
  return named?.id === id ? named.version : undefined;
}

/**
 * What the release is called without its updates: `12` of Debian 12.5, `3.20` of Alpine 3.20.3; empty for
 * distributions without releases. Undefined where that is not said, or the distribution is not known.
 */
export function releaseOf({ id, version }: Release): string | undefined {
  const known = BY_NAME.get(id);
  if (known === undefined) return undefined;
  const numbers = version.replace(/^v/, "").split(".");
  const isNumber = numbers.every((number) => /^[0-9]{1,9}$/.test(number));
  if (known.numbers === 0) return "";
  return isNumber && numbers.length >= known.numbers ? numbers.slice(0, known.numbers).join(".") : undefined;
}

/** Whether a package of the one release is in what is said of the other. One without a version is said of all. */
export function isInRelease(held: Release, said: Release): boolean {
  if (held.id !== said.id) return false;
  if (said.version === "" || held.version === said.version) return true;
  const [ours, theirs] = [releaseOf(held), releaseOf(said)];
  if (ours === undefined || theirs === undefined) return held.version.startsWith(`${said.version}.`);
  const [minor, other] = [held, said].map(({ version }) => version.split(".")[1]);
  const isMinor = BY_NAME.get(held.id)?.hasMinors !== true || minor === undefined || other === undefined;
  return ours === theirs && (isMinor || minor === other);
}

/** The qualifier `distro` of a release. Debian's os-release has no updates, which others count. */
export function writeRelease({ id, version }: Release): string {
  const written = id === "debian" ? (releaseOf({ id, version }) ?? version) : version;
  return [id, written].filter((part) => part !== "").join("-");
}
