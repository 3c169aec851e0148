import { libraryError } from "../../../src/libraries/http/errors.ts";

/** `<group path>/-/<name>/`: the list of a toy; `…/<version>.toy`: a version. */
export type ToyPath = { group: readonly string[]; name: string; version: string | undefined };

export function toyPathOf(segments: readonly string[]): ToyPath {
  const at = segments.indexOf("-");
  const [name = "", file = ""] = segments.slice(at + 1);
  const [, version] = /^([0-9]{1,9})\.toy$/.exec(file) ?? [];
  if (at < 1 || !/^[a-z]{1,30}$/.test(name) || (file !== "" && version === undefined))
    throw libraryError(404, "Not found: there is no toy at this path");
  return { group: segments.slice(0, at), name, version };
}
