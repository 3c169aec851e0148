// Names of npm packages, as this registry takes them. Source: docs.npmjs.com, package.json, "name".

const MAX_CHARS = 214;
const MAX_VERSION_CHARS = 256;
const NUMBER = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?$/;
const UNSCOPED = /^[a-z0-9][a-z0-9._~-]*$/;
const SCOPED = /^@[a-z0-9_-][a-z0-9._~-]*\/[a-z0-9~_-][a-z0-9._~-]*$/;
const RESERVED = new Set(["node_modules", "favicon.ico"]);

/** Why a name is not valid for an npm package here; undefined when it is. */
export function faultOfPackage(name: string): string | undefined {
  if (name === "") return "has no name";
  if (name.length > MAX_CHARS) return `its name is longer than ${MAX_CHARS} characters`;
  const isName = (name.startsWith("@") ? SCOPED : UNSCOPED).test(name) && !RESERVED.has(name);
  return isName
    ? undefined
    : "its name is not valid for an npm package here: it takes lower case, digits, and . _ ~ - inside";
}

/** Whether a text is the number of a version that can be published here. Source: semver.org, without build metadata. */
export function isNumber(version: string): boolean {
  return version.length <= MAX_VERSION_CHARS && NUMBER.test(version);
}

/** A name as npm has it in paths. */
export function packagePath(name: string): string {
  return name.replace("/", "%2f");
}

/** Where a package is: the repository, empty where the registry is one, and its name. */
interface PackagePlace {
  index: string;
  name: string;
}

/** Reads `name`, or `repository/name`. */
export function packagePlaceOf(text: string): PackagePlace {
  const parts = text.split("/");
  const isScoped = parts.at(-2)?.startsWith("@") === true;
  const name = parts.splice(isScoped ? -2 : -1).join("/");
  return { index: parts.join("/"), name };
}

/** Reads `name@version`, or `repository/name@version`. */
export function packageOf(text: string): PackagePlace & { version: string } {
  const cut = text.lastIndexOf("@");
  return { ...packagePlaceOf(text.slice(0, cut)), version: text.slice(cut + 1) };
}

/** What a package is known by in a plan. */
export function packageSource({ index, name }: PackagePlace): string {
  return index === "" ? name : `${index}/${name}`;
}
