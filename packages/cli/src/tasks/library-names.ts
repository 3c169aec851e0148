// Libraries by the names that their clients give them.
import { textIn } from "../api/json-fields.ts";
import { below, findGroup } from "../api/group-path.ts";
import { MAX_SEARCHED } from "../api/library-names.ts";
import type { JsonObject, Query } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import type { Session } from "./session.ts";

const ECOSYSTEMS: Readonly<Record<string, string>> = {
  npm: "ECOSYSTEM_JAVASCRIPT",
  pypi: "ECOSYSTEM_PYTHON",
  maven: "ECOSYSTEM_JAVA",
};

/** The ecosystems by the names that their clients have. */
export const ECOSYSTEM_NAMES: readonly string[] = Object.keys(ECOSYSTEMS);

// The catalogue finds what begins with the name: a library of just that name is looked for among so many.
const MAX_LOOKED = 2_000;

/** A library on a command line: `name` or `name@version`, with `group:` before it or not. */
export interface NamedLibrary {
  name: string;
  /** Empty for all. */
  version: string;
}

/** `@acme/ui@1.2.0` in parts. */
export function libraryIn(text: string): NamedLibrary {
  const cut = text.lastIndexOf("@");
  const [name, version] = cut > 0 ? [text.slice(0, cut), text.slice(cut + 1)] : [text, ""];
  if (name === "" || (cut > 0 && version === ""))
    throw new UsageFailure(`${JSON.stringify(text)} is no library: write its name, or name@version`);
  return { name, version };
}

/** The ecosystems of `--ecosystem`, as the API names them. */
export function ecosystemsOf(name: string | undefined): string[] {
  return name === undefined ? Object.values(ECOSYSTEMS) : [ECOSYSTEMS[name] ?? name];
}

/**
 * The libraries of that name, in whichever group; of `group:name`, as lists of libraries have it, those of the group.
 * Throws a Failure with exit code 3 when there is none.
 */
export async function librariesNamed(
  { rest }: Session,
  { name }: NamedLibrary,
  ecosystem: string | undefined,
): Promise<JsonObject[]> {
  const ecosystems = ecosystemsOf(ecosystem);
  const named = async (wanted: string, place: Query = {}): Promise<JsonObject[]> => {
    const query = { ecosystems, ...place, query: [...wanted].slice(0, MAX_SEARCHED).join("") };
    const found: JsonObject[] = [];
    for await (const each of rest.list("/libraries/v2/artifacts", "artifacts", { query, limit: MAX_LOOKED }))
      if (isNamed(each, wanted)) found.push(each);
    return found;
  };
  // A name of Maven has a colon itself.
  const colon = name.indexOf(":");
  let found = await named(name);
  if (found.length === 0 && colon > 0) {
    const group = await findGroup(rest, name.slice(0, colon));
    if ("uid" in group) found = await named(name.slice(colon + 1), below(group.uid));
  }
  if (found.length > 0) return found;
  const hint = "moorage libraries list --ecosystems javascript,python,java --query … finds names";
  throw new Failure(`there is no library ${JSON.stringify(name)}, or you may not list it`, {
    exit: EXIT.notFound,
    hint,
  });
}

function isNamed(artifact: JsonObject, name: string): boolean {
  const own = textIn(artifact, "name");
  // Python compares names so: PEP 503.
  const folded = (text: string): string => text.toLowerCase().replaceAll(/[-_.]+/g, "-");
  return own === name || (textIn(artifact, "ecosystem") === ECOSYSTEMS["pypi"] && folded(own) === folded(name));
}
