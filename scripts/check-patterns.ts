// `npm run check`: no regular expression of the server, the command or the client takes more time than in proportion to
// the text. Anybody may send the text, and one that goes back over it again and again stops everything else.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Found, type FoundPattern, patternsIn } from "./patterns/find.ts";
import { judge, type Verdict } from "./patterns/judge.ts";
import { BUNDLED_PACKAGES } from "./server-packages.ts";

/** What is let through, by file, with the reason. An entry that is needed no longer is an error. */
export interface Exceptions {
  /** Sources of patterns that cannot be judged: `/source/flags` to the reason. */
  unjudged: Readonly<Record<string, string>>;
  /** Files that make one pattern while they run: the file to the reason. */
  dynamic: Readonly<Record<string, string>>;
}

const EXCEPTIONS: Exceptions = {
  unjudged: {},
  dynamic: { "packages/cli/src/apply/rules.ts": "has the patterns of the .proto files, which are judged here as well" },
};

/** As many steps take some ten milliseconds. */
const MAX_STEPS = 4_000_000;
const SOURCES = BUNDLED_PACKAGES.map((name) => `packages/${name}/src`);

/** All that is wrong with the patterns of sources: texts by file name, of TypeScript and of `.proto` files. */
export async function checkPatterns(
  sources: ReadonlyMap<string, string>,
  { unjudged, dynamic }: Exceptions,
): Promise<string[]> {
  const found = [...sources].map(([file, text]) =>
    file.endsWith(".proto") ? rulesIn(file, text) : patternsIn(file, text),
  );
  const byKey = Map.groupBy(
    found.flatMap(({ patterns }) => patterns),
    keyOf,
  );
  const keys = [...byKey.keys()];
  const verdicts = await judge(keys.map((key) => byKey.get(key)?.[0] ?? { source: "", flags: "" }));
  const problems: string[] = [];
  const used = new Set<string>();
  for (const [at, key] of keys.entries())
    for (const pattern of byKey.get(key) ?? []) {
      const problem = problemOf(pattern, verdicts[at] ?? { kind: "unknown", why: "not judged" });
      if (problem === undefined) continue;
      if (verdicts[at]?.kind === "unknown" && Object.hasOwn(unjudged, key)) used.add(key);
      else problems.push(problem);
    }
  for (const place of found.flatMap((each) => each.dynamic)) {
    const file = place.replace(/:\d+$/, "");
    if (Object.hasOwn(dynamic, file) && !used.has(file)) used.add(file);
    else problems.push(`${place}: makes a pattern that nobody can judge: write it as a literal, or search by hand`);
  }
  for (const name of [...Object.keys(unjudged), ...Object.keys(dynamic)])
    if (!used.has(name)) problems.push(`scripts/check-patterns.ts: the exception ${name} is needed no longer`);
  if (keys.length === 0) problems.push("no pattern was found");
  return problems;
}

function keyOf({ source, flags }: FoundPattern): string {
  return `/${source}/${flags}`;
}

function problemOf(pattern: FoundPattern, verdict: Verdict): string | undefined {
  if (verdict.kind === "linear") return undefined;
  const { place, maxChars } = pattern;
  if (verdict.kind === "unknown") return `${place}: ${keyOf(pattern)} cannot be judged: ${verdict.why}`;
  if (maxChars !== undefined && maxChars ** verdict.degree <= MAX_STEPS) return undefined;
  const cut =
    maxChars === undefined
      ? "make it linear, or cut the text right there, as in /…/.exec(text.slice(0, 200))"
      : `${maxChars} characters are too many for it`;
  return `${place}: ${keyOf(pattern)} takes time of ${verdict.summary} in the text, such as ${verdict.attack}: ${cut}`;
}

/** The patterns of fields, which `moorage apply` matches as a whole. */
function rulesIn(file: string, text: string): Found {
  const found = text.split("\n").flatMap((line, at) => {
    const [, quoted] = /^\s*pattern: ("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
    const place = `${file}:${at + 1}`;
    return quoted === undefined ? [] : [{ source: `^(?:${JSON.parse(quoted) as string})$`, flags: "su", place }];
  });
  return { patterns: found, dynamic: [] };
}

/** The sources below the folder that are ours and no tests, and the `.proto` files. */
function sourcesBelow(root: string): Map<string, string> {
  const below = (folder: string, isWanted: (file: string) => boolean): string[] =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name.split(path.sep).join("/")}`)
      .filter(isWanted);
  const files = [
    ...SOURCES.flatMap((folder) =>
      below(folder, (file) => /\.[cm]?[jt]sx?$/.test(file) && !/\.test\.ts$|\/src\/gen\//.test(file)),
    ),
    ...below("proto/moorage", (file) => file.endsWith(".proto")),
  ];
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = await checkPatterns(sourcesBelow(path.join(import.meta.dirname, "..")), EXCEPTIONS);
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
