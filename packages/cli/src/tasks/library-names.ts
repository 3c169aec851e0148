// Libraries by the names that their clients give them.
import { librariesCalled, versionMark } from "../api/library-names.ts";
import type { JsonObject } from "../api/rest.ts";
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

/** A library on a command line: `name` or `name@version`, with `group:` before it or not. */
export interface NamedLibrary {
  name: string;
  /** Empty for all. */
  version: string;
}

/** `@acme/ui@1.2.0` in parts. */
export function libraryIn(text: string): NamedLibrary {
  const cut = versionMark(text);
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
  const { found } = await librariesCalled(rest, name, ecosystemsOf(ecosystem));
  if (found.length > 0) return found;
  const hint = "moorage libraries list --ecosystems javascript,python,java --query … finds names";
  throw new Failure(`there is no library ${JSON.stringify(name)}, or you may not list it`, {
    exit: EXIT.notFound,
    hint,
  });
}
