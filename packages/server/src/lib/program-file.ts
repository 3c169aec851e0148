import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * The file of a program that a thread or a process of its own runs: the one of that name (without the ending) beside
 * the module at `starter`. Modules that run as TypeScript take it from the folder in MOORAGE_BUNDLE when that is set:
 * there each program is one file with all that it imports, which starts in a third of the processor time. Whoever sets
 * the variable has made that folder from the same sources, as `npm test` does.
 */
export function programFile(name: string, starter: string): URL {
  const bundle = process.env["MOORAGE_BUNDLE"];
  const isSource = starter.endsWith(".ts");
  if (isSource && bundle) return pathToFileURL(join(bundle, `${name}.js`));
  return new URL(`./${name}${isSource ? ".ts" : ".js"}`, starter);
}
