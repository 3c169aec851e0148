import { libraryError } from "../http/errors.ts";

/** The longest name that npm takes. */
const MAX_NAME_CHARS = 214;
const UNSCOPED = /^[a-z0-9][a-z0-9._~-]*$/;
const SCOPE = /^[a-z0-9_-][a-z0-9._~-]*$/;
const SCOPED = /^[a-z0-9~_-][a-z0-9._~-]*$/;
/** Names that npm's own registry takes no longer: of modules, and such as cannot be folders of node_modules. */
const RESERVED = new Set(["node_modules", "favicon.ico"]);

/**
 * Whether npm takes the name for a new package: lower case, letters of URLs, at most 214 characters, with a scope or
 * without. Only within a scope it may begin with `_` or `-`. Source: docs.npmjs.com, package.json, "name";
 * validate-npm-package-name.
 */
function isPackageName(name: string): boolean {
  if (name.length > MAX_NAME_CHARS || RESERVED.has(name)) return false;
  if (!name.startsWith("@")) return UNSCOPED.test(name);
  const [scope = "", rest = "", ...more] = name.slice(1).split("/");
  return more.length === 0 && SCOPE.test(scope) && SCOPED.test(rest);
}

/** Throws 400 for a name that npm does not take. */
export function requirePackageName(name: string): void {
  if (!isPackageName(name))
    throw libraryError(
      400,
      `Invalid argument: name: ${JSON.stringify(name.slice(0, 100))} is no name of an npm package`,
    );
}

/** The name without its scope, which the names of tarballs begin with. */
export function baseName(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

/** The name of the tarball of a version. */
export function tarballName(name: string, version: string): string {
  return `${baseName(name)}-${version}.tgz`;
}
