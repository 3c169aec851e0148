// `npm run check`: who may import whom inside the server, and who may write which table. docs/architecture.md says what
// each area is for.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { orderProblems } from "./layers/folder-order.ts";
import { type Sources, tableProblems, withoutComments, writersOf } from "./layers/table-writers.ts";
import { packageOfArea, SERVER_PACKAGES, sourcesOf } from "./server-packages.ts";

/** The areas of the server from the lowest layer to the highest: an area imports, types included, only lower ones. */
const LAYERS = SERVER_PACKAGES.flatMap(({ layers }) => layers);

/**
 * One import or re-export between two files of sources, by their paths below src. An area is in one package alone, so
 * these paths are of one tree for all packages of the server.
 */
export interface Import {
  from: string;
  to: string;
  typeOnly: boolean;
}

/** The imports that the text of a file makes, of files beside it and of the server's other packages. */
export function importsOf(file: string, text: string): Import[] {
  const code = withoutComments(text);
  const statement = /^\s*(?:import|export)\s+(type\s+(?!from\b))?(?:[\w*{][^;"'`]*?\bfrom\s*)?["']([.@][^"']*)["']/gm;
  const dynamic = /(?:\btypeof\s+)?\bimport\(\s*["']([.@][^"']*)["']/g;
  const found = [
    ...[...code.matchAll(statement)].map(([, type, target = ""]) => ({ target, typeOnly: type !== undefined })),
    ...[...code.matchAll(dynamic)].map(([all, target = ""]) => ({ target, typeOnly: all.startsWith("typeof") })),
  ];
  return found.flatMap(({ target, typeOnly }) => {
    const to = resolve(file, target);
    return to === undefined ? [] : [{ from: file, to, typeOnly }];
  });
}

/** The path below src of what a file imports; undefined for what is of no package of the server. */
function resolve(file: string, target: string): string | undefined {
  if (target.startsWith(".")) return path.posix.normalize(path.posix.join(path.posix.dirname(file), target));
  const [, name, rest = ""] = /^@moorage\/(\w+)\/(.+)$/.exec(target) ?? [];
  if (name === undefined || !SERVER_PACKAGES.some((each) => each.name === name)) return undefined;
  const [area = "", ...below] = rest.split("/");
  const owner = packageOfArea(area);
  if (owner !== name) return `${area} of @moorage/${name}`;
  return below.length === 0 && area !== "errors" ? `${area}/index.ts` : `${rest}.ts`;
}

/** Where each area adds the columns of its tables to the type of all: by a declaration, which is no index's. */
const COLUMNS = "store/tables.ts";

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
  if (to.includes(" of @moorage/")) return `${from} imports ${to}, which is not there`;
  const [layer, below] = [area, target].map((name) => LAYERS.findIndex((areas) => areas.includes(name)));
  if (layer === undefined || below === undefined || layer < 0 || below < 0)
    return `${from} imports ${to}: "${(layer ?? -1) < 0 ? area : target}" has no place in LAYERS (scripts/check-layers.ts)`;
  if (below >= layer) return `${from} imports ${to}: ${target} is not below ${area}`;
  if (withIndex.has(target) && to !== `${target}/index.ts` && to !== COLUMNS)
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

/** The sources below the folders, but tests, in the order of their names. */
function readSources(...folders: readonly string[]): Sources {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => name.split(path.sep).join("/"))
      .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
      .map((name) => [name, path.join(folder, name)] as const),
  );
  const sorted = files.sort(([one], [other]) => (one < other ? -1 : 1));
  return new Map(sorted.map(([name, file]) => [name, withoutComments(readFileSync(file, "utf8"))]));
}

function serverSources(root: string): Sources {
  return readSources(
    ...SERVER_PACKAGES.map(({ name }) => sourcesOf(root, name)).filter((folder) => existsSync(folder)),
  );
}

/** The index of a folder that was imported by its name; other paths as they are. */
function indexOf(file: string, sources: Sources): string {
  const index = file.replace(/\.ts$/, "/index.ts");
  return sources.has(index) ? index : file;
}

/** Areas that lie in another package than the list says. */
function misplaced(root: string): string[] {
  return SERVER_PACKAGES.filter(({ name }) => existsSync(sourcesOf(root, name))).flatMap(({ name }) =>
    [...readSources(sourcesOf(root, name)).keys()]
      .filter((file) => (packageOfArea(areaOf(file)) ?? name) !== name)
      .map(
        (file) =>
          `${file} is in packages/${name}: ${areaOf(file)} is an area of packages/${packageOfArea(areaOf(file))}`,
      ),
  );
}

/** All that is wrong in the server's packages below the root, with imports and with who writes which table. */
export function checkLayers(root: string): string[] {
  const sources = serverSources(root);
  const files = [...sources.keys()];
  const withIndex = new Set(files.filter((file) => /^[^/]+\/index\.ts$/.test(file)).map(areaOf));
  const imports = [...sources]
    .flatMap(([file, text]) => importsOf(file, text))
    .map((each) => (sources.has(each.to) ? each : { ...each, to: indexOf(each.to, sources) }));
  const problems = imports.map((each) => complaint(each, withIndex)).filter((text) => text !== undefined);
  // A circle of types alone is no circle at run time.
  const graph = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const { from, to, typeOnly } of imports) if (!typeOnly) graph.get(from)?.push(to);
  const found = circle(graph);
  problems.push(...misplaced(root), ...orderProblems(imports), ...tableProblems(sources));
  if (imports.length === 0) problems.push(`no import was found below ${root}`);
  return found === undefined ? problems : [...problems, `a circle of imports: ${found.join(" → ")}`];
}

/** All that is wrong with the order of the files and folders of another package's sources. */
export function checkOrder(src: string): string[] {
  const imports = [...readSources(src)].flatMap(([file, text]) => importsOf(file, text));
  return imports.length === 0 ? [`no import was found below ${src}`] : orderProblems(imports);
}

/** Each table with its owner and whoever else writes it, a line each. */
function tableLines(root: string): string[] {
  return [...writersOf(serverSources(root))].map(([table, { owner, writers }]) =>
    [`${table}: ${owner}`, ...[...writers.keys()].filter((area) => area !== owner)].join(", also "),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = path.dirname(import.meta.dirname);
  if (process.argv.includes("--tables")) for (const line of tableLines(root)) console.log(line);
  const problems = [
    ...checkLayers(root),
    ...["cli", "console"].flatMap((name) =>
      checkOrder(sourcesOf(root, name)).map((problem) => `packages/${name}: ${problem}`),
    ),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
