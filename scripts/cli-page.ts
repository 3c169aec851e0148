// The page of all commands: an introduction written by hand, then every command with its flags and an example that the
// tests run.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { SECTIONS } from "../packages/cli/src/resources/spec.ts";
import { type Flag, type Leaf, type Noun, nounsOf, type SharedGroup, sharedFlags } from "./cli-tree.ts";

const SHARED: Readonly<Record<SharedGroup, string>> = {
  server: "[of the server](#flags-of-commands-for-a-server)",
  output: "[of output](#flags-of-output)",
  watch: "[of watching](#flags-of-watching)",
};

/** A link to a document beside the folder, which is not where the page is. */
const TO_DOCUMENT = /\[([^[\]]+)\]\(\.\.\/([\w-]+\.md)(?:#[\w-]+)?\)/g;

/** A link to a command whose example is in another file of the folder: here all are on one page. */
const TO_COMMAND = /\]\([\w-]+\.md(#[\w-]+)\)/g;

/**
 * The page. `folder` has `introduction.md`, and files whose headings `## repos list` stand above the example of that
 * command. Throws an Error for a command without an example, and for an example without a command.
 */
export function cliPage(program: Command, folder: string): string {
  const nouns = nounsOf(program);
  const examples = examplesIn(folder);
  const known = new Set(nouns.flatMap(({ leaves }) => leaves.map(({ path }) => path)));
  const missing = [...known].filter((path) => !examples.has(path));
  if (missing.length > 0) throw new Error(`${folder}: no example for: ${missing.join(", ")}`);
  const unknown = [...examples.keys()].filter((path) => !known.has(path));
  if (unknown.length > 0) throw new Error(`${folder}: examples of no command: ${unknown.join(", ")}`);
  const shared = sharedFlags(program);
  const introduction = readFileSync(join(folder, "introduction.md"), "utf8").replaceAll(
    /^<!-- flags: (\w+) -->$/gm,
    (_, group: SharedGroup) => flagLines(shared[group]),
  );
  const sections = SECTIONS.map((section) => {
    const own = nouns.filter((noun) => noun.section === section);
    return [`## ${section}`, ...own.map((noun) => nounText(noun, examples))].join("\n\n");
  });
  return `${[introduction.trimEnd(), ...sections].join("\n\n").replaceAll(TO_DOCUMENT, "$1 (docs/$2)").replaceAll(TO_COMMAND, "]($1)")}\n`;
}

/** Examples by the path of their command. */
export function examplesIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const file of globSync("*.md", { cwd: folder }).filter((name) => name !== "introduction.md")) {
    const [, ...parts] = readFileSync(join(folder, file), "utf8").split(/^## /m);
    for (const part of parts) {
      const end = part.indexOf("\n");
      const path = part.slice(0, end).trim();
      if (found.has(path)) throw new Error(`${file}: a second example of ${path}`);
      if (!/^```sh$/m.test(part)) throw new Error(`${file}: ${path} has no command that is run`);
      found.set(path, part.slice(end).trim());
    }
  }
  return found;
}

function nounText({ name, aliases, summary, leaves }: Noun, examples: ReadonlyMap<string, string>): string {
  const [first] = leaves;
  const also = aliases.length > 0 ? ` Also \`${aliases.join("`, `")}\`.` : "";
  const head = `### ${name}\n\n${sentence(summary)}${also}`;
  if (leaves.length === 1 && first?.path === name) return `${head}\n\n${leafText(first, examples)}`;
  return [head, ...leaves.map((leaf) => `#### ${leaf.path}\n\n${leafText(leaf, examples)}`)].join("\n\n");
}

function leafText(leaf: Leaf, examples: ReadonlyMap<string, string>): string {
  const { usage, description, aliases, arguments: words, flags, shares, path } = leaf;
  const also = aliases.length > 0 ? `, also \`${aliases.join("`, `")}\`` : "";
  const groups = shares.map((group) => SHARED[group]);
  return [
    asProse(sentence(description)),
    `Usage: \`${usage}\`${also}`,
    ...(words.length + flags.length > 0
      ? [flagLines([...words.map(({ syntax, help }) => ({ syntax, help })), ...flags])]
      : []),
    ...(groups.length > 0 ? [`It also takes the flags ${listed(groups)}.`] : []),
    examples.get(path) ?? "",
  ].join("\n\n");
}

function flagLines(flags: readonly Flag[]): string {
  return flags.map(({ syntax, help }) => `- \`${syntax}\`: ${asProse(help)}`).join("\n");
}

/** Text of help, whose angle brackets Markdown would take for HTML. */
function asProse(help: string): string {
  return help.replaceAll(/`[^`]*`|[<*_]/g, (found) => (found.length === 1 ? `\\${found}` : found));
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

function sentence(text: string): string {
  const plain = text.trim();
  return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}${/[.:]$/.test(plain) ? "" : "."}`;
}
