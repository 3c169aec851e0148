import { libraryError } from "../http/errors.ts";

/** What a path below `/npm/` names: the path of the group, and what of it is wanted. */
export type NpmPath = { group: readonly string[] } & (
  | { kind: "package"; name: string; ref?: undefined }
  /** `<name>/<version or tag>`. */
  | { kind: "version"; name: string; ref: string }
  | { kind: "tarball"; name: string; file: string }
  /** `<name>/-rev/<rev>`, and of a tarball. */
  | { kind: "revision"; name: string; rev: string; file?: string }
  | { kind: "tags"; name: string; tag?: string }
  /** What is of the registry as a whole: `whoami`, `v1/search` and so on, without the leading `-/`. */
  | { kind: "registry"; rest: string }
);

const SEPARATORS = new Set(["-", "-rev"]);
const OF_THE_REGISTRY = new Set(["package", "v1", "npm", "whoami", "ping", "user", "all"]);

/**
 * Reads a path of npm's registry API, in segments: `<group path>/<package>`, `…/<package>/-/<file>` and so on. A scoped
 * name is one segment (`@scope%2fname`) or two. Names of groups begin with no `@` and are none of the words here, so
 * that only `<package>/<version>` has two readings: `otherwise` is the second one, for where there is no group of that
 * path. Throws 404.
 */
export function npmPathOf(segments: readonly string[]): NpmPath & { otherwise?: NpmPath } {
  const parts = segments.at(-1) === "" ? segments.slice(0, -1) : segments;
  if (parts.length < 2 || parts.includes("")) throw nothing();
  const at = parts.findIndex(
    (part, index) => index > 0 && SEPARATORS.has(part) && !isBareScope(parts[index - 1] ?? ""),
  );
  if (at < 0) return packagePath(parts);
  const [before, after] = [parts.slice(0, at), parts.slice(at + 1)];
  const [first = "", ...more] = after;
  if (parts[at] === "-rev") {
    if (after.length !== 1) throw nothing();
    return { kind: "revision", ...packageAtEnd(before), rev: first };
  }
  if (OF_THE_REGISTRY.has(first)) {
    if (first !== "package") return { kind: "registry", group: before, rest: after.join("/") };
    const tags = more.lastIndexOf("dist-tags");
    const name = more.slice(0, tags).join("/");
    if (tags < 1 || more.length > tags + 2 || name === "") throw nothing();
    const tag = more[tags + 1];
    return { kind: "tags", group: before, name, ...(tag !== undefined && { tag }) };
  }
  const named = packageAtEnd(before);
  // Some clients repeat the scope: -/@scope/name-1.0.0.tgz.
  const file = first.startsWith("@") ? (more.shift() ?? "") : first;
  const name = file.slice(file.indexOf("/") + 1);
  if (more.length === 0) return { kind: "tarball", ...named, file: name };
  if (more.length === 2 && more[0] === "-rev") return { kind: "revision", ...named, file: name, rev: more[1] ?? "" };
  throw nothing();
}

function packagePath(parts: readonly string[]): NpmPath & { otherwise?: NpmPath } {
  const scoped = parts.findIndex((part) => part.startsWith("@"));
  if (scoped >= 0) {
    const isWhole = parts[scoped]?.includes("/") === true;
    const end = scoped + (isWhole ? 1 : 2);
    const named = packageAtEnd(parts.slice(0, end));
    if (parts.length === end) return { kind: "package", ...named };
    const ref = parts[end];
    if (parts.length === end + 1 && ref !== undefined) return { kind: "version", ...named, ref };
    throw nothing();
  }
  const ref = parts.at(-1) ?? "";
  return {
    kind: "package",
    ...packageAtEnd(parts),
    ...(parts.length > 2 && { otherwise: { kind: "version", ...packageAtEnd(parts.slice(0, -1)), ref } }),
  };
}

function packageAtEnd(parts: readonly string[]): { group: readonly string[]; name: string } {
  const last = parts.at(-1) ?? "";
  const scope = parts.at(-2) ?? "";
  const [name, length] = isBareScope(scope) ? [`${scope}/${last}`, 2] : [last, 1];
  const group = parts.slice(0, -length);
  if (group.length === 0) throw nothing();
  return { group, name };
}

/** Whether the segment is the scope of a name alone: the next one is the rest, also where that is `-`. */
function isBareScope(part: string): boolean {
  return part.startsWith("@") && !part.includes("/");
}

function nothing(): Error {
  return libraryError(404, "Not found: there is nothing at this path of the npm registry");
}
