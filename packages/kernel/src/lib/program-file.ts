import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** The folder of this repository's packages. */
const PACKAGES = new URL("../../../", import.meta.url).href;

/** A source below that folder: its place below the `src` of its package. */
const SOURCE = /^\w+\/src\/(.+)\.ts$/;

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
  if (!bundle || bundle === "0" || !source.href.startsWith(PACKAGES)) return source;
  // Programs of tests have sources alone.
  const [, place] = SOURCE.exec(source.href.slice(PACKAGES.length)) ?? [];
  return place === undefined ? source : pathToFileURL(join(bundle, `${place}.js`));
}
