import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The folder of this package's modules. */
const MODULES = new URL("../", import.meta.url).href;

/**
 * The file of a program that a thread or a process of its own runs: the one of that name (without the ending) beside
 * the module at `starter`. For modules that run as TypeScript it is the bundled one when MOORAGE_BUNDLE names the
 * folder of a bundle: there each program has the same place as below `src`, and starts in a fraction of the processor
 * time. Whoever sets the variable has made that folder from the same sources, as the launcher and `npm test` do.
 */
export function programFile(name: string, starter: string): URL {
  if (!starter.endsWith(".ts")) return new URL(`./${name}.js`, starter);
  const source = new URL(`./${name}.ts`, starter);
  const bundle = process.env["MOORAGE_BUNDLE"];
  if (!bundle || bundle === "0" || !source.href.startsWith(MODULES)) return source;
  return pathToFileURL(join(bundle, source.href.slice(MODULES.length).replace(/\.ts$/, ".js")));
}
