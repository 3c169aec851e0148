import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BundledPackage, packagesOf } from "./packages.ts";

/**
 * The licenses of the packages that the modules at these paths are of, as one text. Modules of this repository have
 * none. Throws for a package that says nothing of its license.
 */
export function noticesOf(modules: Iterable<string>): string {
  return packagesOf(modules)
    .map(noticeOf)
    .join(`\n${"-".repeat(80)}\n\n`);
}

function noticeOf({ folder, name, version, license, author }: BundledPackage): string {
  const texts = globSync("{LICENSE,LICENCE,NOTICE,COPYING,License,license,licence}*", { cwd: folder }).toSorted();
  if (texts.length === 0 && license === undefined) throw new Error(`${name} says nothing of its license`);
  const heading = [`${name} ${version}`, license, author && `by ${author}`].filter(Boolean).join(", ");
  return [heading, ...texts.map((file) => readFileSync(join(folder, file), "utf8").trim())].join("\n\n") + "\n";
}
