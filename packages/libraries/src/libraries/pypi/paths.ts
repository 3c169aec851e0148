import { libraryError } from "../http/errors.ts";

/** What a path below `/pypi/` names: the path of the group, and what of it is wanted. */
export type PypiPath = { group: readonly string[] } & (
  | { kind: "index"; slash: boolean }
  | { kind: "project"; project: string; slash: boolean }
  | { kind: "file"; project: string; file: string }
  | { kind: "upload" }
);

/**
 * Reads `<group path>/simple/`, `…/simple/<project>/`, `…/simple/<project>/<file>` and `<group path>/legacy/`, in
 * segments. Groups are not named `simple` or `legacy`. `slash`: whether the path ends with one, as pages must, since
 * their links are relative. Throws 404.
 */
export function pypiPathOf(segments: readonly string[]): PypiPath {
  const at = segments.findIndex((segment, index) => index > 0 && (segment === "simple" || segment === "legacy"));
  const group = segments.slice(0, at);
  const [project, file, ...more] = segments.slice(at + 1);
  if (at < 1 || group.includes("") || more.length > 0) throw nothing();
  if (segments[at] === "legacy") {
    if (file !== undefined || (project !== undefined && project !== "")) throw nothing();
    return { kind: "upload", group };
  }
  if (project === undefined || project === "") {
    if (file !== undefined) throw nothing();
    return { kind: "index", group, slash: project !== undefined };
  }
  if (file === undefined || file === "") return { kind: "project", group, project, slash: file !== undefined };
  return { kind: "file", group, project, file };
}

function nothing(): Error {
  return libraryError(404, "Not found: there is nothing at this path; an index is at /pypi/<group>/simple/");
}
