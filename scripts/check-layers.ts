// `npm run check`: who may import whom inside the server, and who may write which table. docs/architecture.md says what
// each area is for.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { orderProblems } from "./layers/folder-order.ts";
import { type Sources, tableProblems, withoutComments, writersOf } from "./layers/table-writers.ts";

/**
 * The areas of packages/server/src from the lowest layer to the highest. An area is a folder, or a file that stands in
 * src itself. It imports, types included, only areas of lower layers; areas of one layer do not know each other.
 */
export const LAYERS: readonly (readonly string[])[] = [
  ["errors"],
  ["lib"],
  ["config", "blobs", "store", "signing"],
  ["core"],
  ["aip", "audit", "observe", "work"],
  ["mail"],
  ["ping", "iam", "processes"],
  ["registry", "events", "auth"],
  ["trust"],
  ["oci", "security", "webhooks"],
  ["libraries"],
  ["mirroring", "jobs"],
  ["operations"],
  ["areas"],
  ["runtime"],
  ["v1", "mcp"],
  ["transport", "installation"],
  ["admin", "boot"],
  ["index"],
];

/** One import or re-export between two files of src, by their paths below it. */
export interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

/** The imports that the text of a file makes, of files beside it. */
export function importsOf(file: string, text: string): Import[] {
  const code = withoutComments(text);
  const statement = /^\s*(?:import|export)\s+(type\s+(?!from\b))?(?:[\w*{][^;"'`]*?\bfrom\s*)?["'](\.[^"']*)["']/gm;
  const resolve = (target = ""): string => path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
  const found: Import[] = [];
  for (const [, type, target] of code.matchAll(statement))
    found.push({ from: file, to: resolve(target), typeOnly: type !== undefined });
  for (const [before, target] of code.matchAll(/(?:\btypeof\s+)?\bimport\(\s*["'](\.[^"']*)["']/g))
    found.push({ from: file, to: resolve(target), typeOnly: before.startsWith("typeof") });
  return found;
}

function areaOf(file: string): string {
  const cut = file.indexOf("/");
  return cut < 0 ? file.replace(/\.ts$/, "") : file.slice(0, cut);
}

/**
 * What is wrong with an import; undefined when nothing is. `withIndex`: the areas that have an index.ts, through which
 * alone the others import them.
 */
export function complaint({ from, to }: Import, withIndex: ReadonlySet<string>): string | undefined {
  const [area, target] = [areaOf(from), areaOf(to)];
  if (to.startsWith("..")) return `${from} imports ${to}, which is outside src`;
  if (area === target) return undefined;
  const [layer, below] = [area, target].map((name) => LAYERS.findIndex((areas) => areas.includes(name)));
  if (layer === undefined || below === undefined || layer < 0 || below < 0)
    return `${from} imports ${to}: "${(layer ?? -1) < 0 ? area : target}" has no place in LAYERS (scripts/check-layers.ts)`;
  if (below >= layer) return `${from} imports ${to}: ${target} is not below ${area}`;
  if (withIndex.has(target) && to !== `${target}/index.ts`)
    return `${from} imports ${to}: other areas import ${target} through its index.ts alone`;
  return undefined;
}

/** A circle among the files, as a path that ends where it began; undefined when there is none. */
export function circle(graph: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (file: string): string[] | undefined => {
    const seen = trail.indexOf(file);
    if (seen >= 0) return [...trail.slice(seen), file];
    if (done.has(file)) return undefined;
    trail.push(file);
    for (const next of graph.get(file) ?? []) {
      const found = visit(next);
      if (found) return found;
    }
    trail.pop();
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const found = visit(file);
    if (found) return found;
  }
  return undefined;
}

/** The sources below the folder, but tests, in the order of their names. */
function sourcesOf(src: string): Sources {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .map((name) => name.split(path.sep).join("/"))
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .sort();
  return new Map(files.map((file) => [file, withoutComments(readFileSync(path.join(src, file), "utf8"))]));
}

/** All that is wrong below the folder with imports and with who writes which table. */
export function checkLayers(src: string): string[] {
  const sources = sourcesOf(src);
  const files = [...sources.keys()];
  const withIndex = new Set(files.filter((file) => /^[^/]+\/index\.ts$/.test(file)).map(areaOf));
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text));
  const problems = imports.map((each) => complaint(each, withIndex)).filter((text) => text !== undefined);
  // A circle of types alone is no circle at run time.
  const graph = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.get(from)?.push(to);
  const found = circle(graph);
  problems.push(...orderProblems(imports), ...tableProblems(sources));
  if (imports.length === 0) problems.push(`no import was found below ${src}`);
  return found === undefined ? problems : [...problems, `a circle of imports: ${found.join(" → ")}`];
}

/** All that is wrong with the order of the files and folders of another package's sources. */
export function checkOrder(src: string): string[] {
  const imports = [...sourcesOf(src)].flatMap(([file, text]) => importsOf(file, text));
  return imports.length === 0 ? [`no import was found below ${src}`] : orderProblems(imports);
}

/** Each table with its owner and whoever else writes it, a line each. */
function tableLines(src: string): string[] {
  return [...writersOf(sourcesOf(src))].map(([table, { owner, writers }]) =>
    [`${table}: ${owner}`, ...[...writers.keys()].filter((area) => area !== owner)].join(", also "),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const packages = path.join(import.meta.dirname, "../packages");
  const src = path.join(packages, "server/src");
  if (process.argv.includes("--tables")) for (const line of tableLines(src)) console.log(line);
  const problems = [
    ...checkLayers(src),
    ...["cli", "console"].flatMap((name) =>
      checkOrder(path.join(packages, name, "src")).map((problem) => `packages/${name}: ${problem}`),
    ),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
