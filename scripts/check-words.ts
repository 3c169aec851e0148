// `npm run check`: code, comments and documents use the words of docs/glossary.md and name files that are there, and
// comments fit the width that the formatter keeps for code.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const GLOSSARY = "docs/glossary.md";
const HEADING = "## Words not used";
const MAX_WIDTH = 120;

/** A word that is not used, what stands for it, and whether it is looked for in comments and documents alone. */
export interface Banned {
  word: string;
  instead: string;
  inProse: boolean;
}

/**
 * The rows of the glossary's second table, `| Not | But |`. A cell of words has each in backticks; `(in prose)` behind
 * them leaves names in code alone, where the word is a field or a column that clients and databases know.
 */
export function bannedIn(glossary: string): Banned[] {
  const table = glossary.split(HEADING, 2)[1]?.split("\n## ", 1)[0] ?? "";
  const rows = [...table.matchAll(/^\|([^|\n]*)\|([^|\n]*)\|/gm)].filter(([, not = ""]) => not.includes("`"));
  return rows.flatMap(([, not = "", but = ""]) =>
    [...not.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => ({
      word,
      instead: but.trim(),
      inProse: not.includes("(in prose)"),
    })),
  );
}

/** Matches the word, its plural, and both as a part of a camelCase or SNAKE_CASE name; not inside another word. */
function patternOf(word: string): RegExp {
  const quoted = word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const [lower, upper] = [quoted.charAt(0).toLowerCase(), quoted.charAt(0).toUpperCase()];
  const rest = quoted.slice(1);
  const camel = /^[a-z]+$/i.test(word)
    ? `(?:(?<![A-Za-z])[${lower}${upper}]${rest}|${upper}${rest})s?(?![a-z])|(?<![A-Z])${word.toUpperCase()}S?(?![A-Z])`
    : `(?<![a-z])[${lower}${upper}]${rest}`;
  return new RegExp(camel, "g");
}

/** A name in quotes or backticks stands for itself: a metric's label, a column, a field of the API. */
const QUOTED_NAME = /(["'`])[\w.:/-]+\1/g;

function proseOf(line: string, isCode: boolean): string {
  if (!isCode) return line;
  return /^\s*(?:\*|\/\*\*?)/.test(line) ? line : (/(?:^|\s)\/\/ ?(.*)$/.exec(line)?.[1] ?? "");
}

/** A file of the repository as comments and documents name it: its path or the end of it. */
const FILE_NAME = /(?<![\w./:<-])(?:[\w-]+\/)*[\w-]+(?:\.test)?\.ts\b(?!\.\w)/g;

/** A path in backticks, of a file or of a folder (`oci/blobs/`), without placeholders. */
const PATH = /`([\w.-]+\/[\w./-]*)`/g;
/** What begins so is of the repository, whichever document names it; `docs/` is in the packages of a release, too. */
const OF_REPOSITORY = /^(?:packages|proto|scripts|bench|deploy|examples|\.ci)\//;
/** The documents whose other paths are of the repository too. Elsewhere `uploads/` may be a folder in a bucket. */
const ABOUT_CODE = /^(?:CONTRIBUTING\.md|docs\/architecture\.md|docs\/glossary\.md|docs\/adr\/.*)$/;
const FOLDER_OR_SOURCE = /(?:\/|\.(?:tsx|js|proto|sh|md))$/;

/** The paths in a line of a document that are of the repository. */
function pathsIn(file: string, line: string): string[] {
  const paths = [...line.matchAll(PATH)].map(([, name = ""]) => name);
  return paths.filter((name) => OF_REPOSITORY.test(name) || (ABOUT_CODE.test(file) && FOLDER_OR_SOURCE.test(name)));
}

/** How comments and documents may name the files and their folders: by the path or the end of it. */
export function namesOf(files: readonly string[]): Set<string> {
  const paths = new Set(files);
  for (const file of files)
    for (let end = file.indexOf("/"); end >= 0; end = file.indexOf("/", end + 1)) paths.add(file.slice(0, end + 1));
  const names = new Set<string>();
  for (const name of paths) for (const { index } of name.matchAll(/(?<=^|\/)[^/]/g)) names.add(name.slice(index));
  return names;
}

/**
 * What is wrong with the lines of a file, each with its place. `exists`: whether a file or a folder of the repository
 * has a path that ends so.
 */
export function problemsIn(
  file: string,
  text: string,
  banned: readonly Banned[],
  exists: (name: string) => boolean = () => true,
): string[] {
  const isCode = !file.endsWith(".md");
  const patterns = banned.map((each) => ({ ...each, pattern: patternOf(each.word) }));
  return text.split("\n").flatMap((line, at) => {
    const place = `${file}:${at + 1}`;
    const prose = proseOf(line, isCode);
    const problems = patterns
      .filter(({ inProse, pattern }) => (inProse ? prose : line).replaceAll(QUOTED_NAME, "").search(pattern) >= 0)
      .map(({ word, instead }) => `${place}: "${word}" is not used here: ${instead} (${GLOSSARY})`);
    const named = new Set([...prose.matchAll(FILE_NAME)].map(([name]) => name));
    for (const name of isCode ? [] : pathsIn(file, line)) named.add(name);
    for (const name of named)
      if (!exists(name)) problems.push(`${place}: there is no ${name.endsWith("/") ? "folder" : "file"} ${name}`);
    const isTooWide = isCode && prose !== "" && /^\s*(?:\/\/|\*|\/\*)/.test(line) && line.length > MAX_WIDTH;
    // An address cannot be broken.
    if (isTooWide && !line.includes("://")) problems.push(`${place}: a comment is wider than ${MAX_WIDTH} columns`);
    return problems;
  });
}

// Participles that do not end in -ed.
const IRREGULAR = new Set(
  "begun bound bought broken brought built caught chosen done drawn fallen felt found given gone grown heard held hidden kept known led left lent lost made meant met paid said seen sent shown sold spent stolen taken taught thought thrown understood won written".split(
    " ",
  ),
);
const NOUNS_IN_ED = new Set(["bed", "breed", "deed", "embed", "feed", "greed", "need", "seed", "speed", "weed"]);

/**
 * The source files that are called by a participle, such as `known` or `read-published`: a name says what is in the
 * file by a noun, or what it does by a verb and its object.
 */
export function participleNamesIn(files: readonly string[]): string[] {
  return files.filter((file) => {
    const name = path.basename(file).replace(/\..*$/, "");
    const word = name.split("-").at(-1) ?? "";
    return IRREGULAR.has(word) || (word.endsWith("ed") && !NOUNS_IN_ED.has(word));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const root = path.dirname(import.meta.dirname);
  const banned = bannedIn(readFileSync(path.join(root, GLOSSARY), "utf8"));
  const all = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).split("\n");
  // Generated code repeats the comments of proto/.
  const files = all.filter(
    (file) =>
      (/\.(?:tsx?|js|md|sh|proto)$/.test(file) || [".ci/run", ".ci/nightly"].includes(file)) &&
      !file.includes("/src/gen/") &&
      existsSync(path.join(root, file)),
  );
  const names = namesOf(all);
  // What the scripts make is nowhere in a new clone. Git takes a folder for one by its slash alone.
  const isMade = (name: string): boolean =>
    spawnSync("git", ["check-ignore", name, `${name}/`], { cwd: root }).status === 0;
  const exists = (name: string): boolean => names.has(name) || names.has(`${name}/`) || isMade(name);
  const problems = files.flatMap((file) =>
    // The glossary has the words that are not used.
    problemsIn(file, readFileSync(path.join(root, file), "utf8"), file === GLOSSARY ? [] : banned, exists),
  );
  const sources = all.filter((file) => /\.(?:tsx?|js|sh)$/.test(file) && existsSync(path.join(root, file)));
  for (const file of participleNamesIn(sources))
    problems.push(`${file}: is called by a participle: name it by a noun, or by a verb and its object`);
  if (banned.length === 0) problems.push(`${GLOSSARY} has no table under "${HEADING}"`);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
