import type { VersionOrder } from "../versions/index.ts";
import { namespaceOf, readRelease } from "./distributions.ts";
import type { Purl } from "./purl.ts";

/** What a type of package URLs says about its names. Source: package-url, purl-types. */
interface TypeRules {
  /** The name as it is written. */
  name?: (name: string) => string;
  /** The namespace as it is written. */
  namespace?: (namespace: string) => string;
  /** Name and namespace are compared without regard to case, though they are written with it. */
  isCaseless?: boolean;
  order?: VersionOrder;
}

// Of ASCII alone: the small letter of the Kelvin sign is k, and another name must not become this one.
const lower = (text: string): string => text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
const lowerNames = { name: lower, namespace: lower };

/** PyPI compares names with one hyphen for each run of `-`, `_` and `.`. Source: PEP 503. */
export function pypiName(name: string): string {
  return lower(name).replaceAll(/[-_.]+/g, "-");
}

const TYPES: ReadonlyMap<string, TypeRules> = new Map<string, TypeRules>([
  ["alpm", lowerNames],
  ["apk", { name: lower, namespace: namespaceOf, order: "apk" }],
  ["bitbucket", lowerNames],
  ["bitnami", { name: lower }],
  ["cargo", { order: "semver" }],
  ["composer", lowerNames],
  ["conda", { name: lower }],
  ["deb", { name: lower, namespace: namespaceOf, order: "dpkg" }],
  ["github", lowerNames],
  ["gitlab", lowerNames],
  ["golang", { isCaseless: true, order: "semver" }],
  ["hex", lowerNames],
  ["maven", { order: "maven" }],
  ["npm", { ...lowerNames, order: "semver" }],
  ["nuget", { isCaseless: true }],
  ["oci", { name: lower }],
  ["pub", { name: (name) => lower(name).replaceAll("-", "_") }],
  ["pypi", { name: pypiName, namespace: lower, order: "pypi" }],
  ["rpm", { namespace: namespaceOf, order: "rpm" }],
]);

/** The types whose packages belong to a release of a distribution. */
export function isOfDistribution(type: string): type is "deb" | "apk" | "rpm" {
  return type === "deb" || type === "apk" || type === "rpm";
}

/** Package URLs of images, whose version is a digest. */
export const IMAGE_TYPES: ReadonlySet<string> = new Set(["oci", "docker"]);

/** The order of the versions of a type; undefined where none is known. */
export function orderOfType(type: string): VersionOrder | undefined {
  return TYPES.get(type)?.order;
}

/**
 * The package URL with the names that its type gives to what is named so. One of a distribution that names none is of
 * that of its release.
 */
export function namedByType(purl: Purl): Purl {
  const rules = TYPES.get(purl.type);
  const distro = isOfDistribution(purl.type) && purl.namespace === "" ? purl.qualifiers.get("distro") : undefined;
  const namespace = (distro === undefined ? undefined : readRelease(distro, "")?.id) ?? purl.namespace;
  const named = {
    ...purl,
    namespace: rules?.namespace?.(namespace) ?? namespace,
    name: rules?.name?.(purl.name) ?? purl.name,
  };
  return purl.type === "golang" && purl.subpath !== "" ? goModule(named) : named;
}

/** The package URL of these parts, as one that is read. */
export function namedPurl(parts: Omit<Purl, "subpath">): Purl {
  return namedByType({ ...parts, subpath: "" });
}

const MAJOR = /^v[0-9]{1,9}$/;

/** As many parts as the repository has on the large forges: `github.com/owner/name`. */
const REPOSITORY_PARTS = 3;

/**
 * The module that is meant by a subpath, in which tools write what a module's path has behind its repository: its
 * major version, or the folder of a module in a folder. Any other subpath is a folder of the module.
 */
function goModule(purl: Purl): Purl {
  const repository = [...purl.namespace.split("/").filter((part) => part !== ""), purl.name];
  const [first = "", ...folders] = purl.subpath.split("/");
  const isInModule = !MAJOR.test(first) && repository.length !== REPOSITORY_PARTS;
  if (isInModule) return purl;
  const path = [...repository, first, ...(MAJOR.test(first) ? [] : folders)];
  const name = path.pop() ?? "";
  return { ...purl, namespace: path.join("/"), name, subpath: "" };
}

/** Type, namespace and name, as `npm//left-pad`: the same for all package URLs of a package, whatever its versions. */
export function purlKey({ type, namespace, name }: Pick<Purl, "type" | "namespace" | "name">): string {
  const key = `${type}/${namespace}/${name}`;
  return TYPES.get(type)?.isCaseless === true ? lower(key) : key;
}

/** The name with its namespace as its ecosystem writes it: `@acme/ui`, `org.acme:app`, `openssl`. */
export function fullName({ type, namespace, name }: Pick<Purl, "type" | "namespace" | "name">): string {
  return namespace === "" || isOfDistribution(type) ? name : `${namespace}${type === "maven" ? ":" : "/"}${name}`;
}
