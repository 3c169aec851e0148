// Names of libraries and of their versions: acme/team:left-pad, acme/team:@acme/ui@1.2.0, acme:org.example:app@1.0.
import { nearest } from "@moorage/kernel/lib/near";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { plain } from "../printable.ts";
import { below, findGroup } from "./group-path.ts";
import { KINDS } from "./name-kinds.ts";
import { type Lookup, onlyOne, throwMissing } from "./name-results.ts";
import type { JsonObject, RestClient } from "./rest.ts";

const LOOKED_AT = 5000;
/** The longest beginning of a name that servers search for. */
const MAX_SEARCHED = 64;

/** The libraries that a text calls. */
export interface CalledLibraries {
  /** The name, without the group before it. */
  name: string;
  /** The uid of that group; undefined for all groups. */
  parent: string | undefined;
  found: JsonObject[];
}

/**
 * Looks libraries up: `group:name` those of the group, a name alone those of all groups. A name may have colons itself,
 * as those of Maven have. `ecosystems`: only these, as the API names them. Defaults to all.
 */
export async function librariesCalled(
  rest: RestClient,
  text: string,
  ecosystems?: readonly string[],
): Promise<CalledLibraries> {
  const { path, field, query } = KINDS.library;
  const colon = text.indexOf(":");
  const group = colon > 0 ? await findGroup(rest, text.slice(0, colon)) : undefined;
  const parent = group !== undefined && "uid" in group ? group.uid : undefined;
  const name = parent === undefined ? text : text.slice(colon + 1);
  const asked = {
    ...query,
    ...(ecosystems && { ecosystems }),
    ...(parent !== undefined && below(parent)),
    query: [...name].slice(0, MAX_SEARCHED).join(""),
  };
  const found: JsonObject[] = [];
  for await (const item of rest.list(path, field, { query: asked, pageSize: 200, limit: LOOKED_AT }))
    if (isNamed(item, name)) found.push(item);
  return { name, parent, found };
}

function isNamed({ name, ecosystem }: JsonObject, text: string): boolean {
  // Python compares names so: PEP 503.
  const folded = (each: string): string => each.toLowerCase().replaceAll(/[-_.]+/g, "-");
  return name === text || (ecosystem === "ECOSYSTEM_PYTHON" && folded(String(name)) === folded(text));
}

/** The uid of the one library that a text calls. Throws Failure: not found with near names, or several of that name. */
export async function findLibrary(lookup: Lookup, text: string): Promise<string> {
  const { found, ...wanted } = await librariesCalled(lookup.rest, text);
  return onlyOne(lookup, "library", text, found, () => throwMissing(lookup, "library", text, wanted));
}

/**
 * Where the `@` before the version is in `group:name@version`; negative without one. Versions of Maven may have `@`
 * themselves; a name has one at its beginning alone, as those of npm with a scope.
 */
export function versionMark(text: string): number {
  let at = text.indexOf("@", 1);
  while (at > 0 && text[at - 1] === ":") at = text.indexOf("@", at + 1);
  return at;
}

/** A library, `@`, and the version. Throws Failure with the versions that are near. */
export async function findVersion(lookup: Lookup, text: string): Promise<string> {
  const at = versionMark(text);
  const [library, version] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (at < 1 || library.endsWith(":") || version === "")
    throw new UsageFailure(`${text}: must be a uid or a version of a library, as ${KINDS.version.form}`);
  const uid = await lookup.uidOf("library", library);
  const path = `${KINDS.library.path}/${encodeURIComponent(uid)}/versions`;
  const others: string[] = [];
  for await (const item of lookup.rest.list(path, "artifactVersions", { query: {}, pageSize: 200, limit: LOOKED_AT })) {
    if (item["version"] === version) return String(item["uid"]);
    others.push(String(item["version"]));
  }
  const near = nearest(version, others).map((each) => plain(`${library}@${each}`));
  throw new Failure(`there is no version ${plain(text)} that you may see`, {
    exit: EXIT.notFound,
    ...(near.length > 0 && { hint: `did you mean ${near.join(" or ")}?` }),
  });
}
