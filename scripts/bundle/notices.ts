import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The licenses of the packages that the modules at these paths are of, as one text. Modules of this repository have
 * none. Throws for a package that says nothing of its license.
 */
export function noticesOf(modules: Iterable<string>): string {
  const folders = new Set([...modules].filter((path) => path.includes("/node_modules/")).map(packageOf));
  return [...folders]
    .map(noticeOf)
    .toSorted()
    .join(`\n${"-".repeat(80)}\n\n`);
}

/** The folder of the package: the nearest above the module whose manifest has a name and a version. */
function packageOf(module: string): string {
  for (let folder = dirname(module); ; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const { name, version } = JSON.parse(readFileSync(path, "utf8")) as { name?: string; version?: string };
    if (name && version) return folder;
  }
}

function noticeOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string;
    version: string;
    license?: string;
    author?: string | { name?: string };
  };
  const texts = globSync("{LICENSE,LICENCE,NOTICE,COPYING,License,license,licence}*", { cwd: folder }).toSorted();
  if (texts.length === 0 && license === undefined) throw new Error(`${name} says nothing of its license`);
  const by = typeof author === "string" ? author : author?.name;
  const heading = [`${name} ${version}`, license, by && `by ${by}`].filter(Boolean).join(", ");
  return [heading, ...texts.map((file) => readFileSync(join(folder, file), "utf8").trim())].join("\n\n") + "\n";
}
