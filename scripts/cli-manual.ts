// The man pages of the command: moorage(1), and one for each command of the first level, such as moorage-repos(1).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { SECTIONS } from "../packages/cli/src/resources/spec.ts";
import { examplesIn } from "./cli-page.ts";
import { type Flag, type Leaf, type Noun, nounsOf, type SharedGroup, sharedFlags } from "./cli-tree.ts";
import { macro, plainText, prose, terms, verbatim } from "./roff.ts";

/** What the pages say of themselves. */
export interface Edition {
  readonly version: string;
  /** Such as 2026-01-31. */
  readonly date: string;
}

const REFERS: Readonly<Record<SharedGroup, string>> = {
  server: "flags of the server",
  output: "flags of output",
  watch: "flags of watching",
};

/** The pages by the names of their files. `folder`: docs/cli, with the introduction and the examples. */
export function manualPages(program: Command, folder: string, edition: Edition): Map<string, string> {
  const nouns = nounsOf(program);
  const examples = examplesIn(folder);
  const introduction = readFileSync(join(folder, "introduction.md"), "utf8");
  const pages = new Map([["moorage.1", mainPage(program, nouns, introduction, edition)]]);
  for (const noun of nouns) pages.set(`moorage-${noun.name}.1`, nounPage(noun, examples, edition));
  return pages;
}

function mainPage(program: Command, nouns: readonly Noun[], introduction: string, edition: Edition): string {
  const shared = sharedFlags(program);
  return page([
    ...head("moorage", edition),
    macro("SH", "NAME"),
    "moorage \\- a self\\-hosted container registry with its control plane",
    macro("SH", "SYNOPSIS"),
    "\\fBmoorage\\fP [\\fIflags of the server\\fP] \\fIcommand\\fP [\\fIarguments\\fP]",
    macro("SH", "DESCRIPTION"),
    prose(paragraph(introduction, "`moorage` is the server").replace(/ `moorage help COMMAND`[^]*$/, "")),
    ".PP",
    prose("`moorage help COMMAND` shows what a command takes; each has a page of its own, such as `moorage-repos`(1)."),
    macro("SH", "COMMANDS"),
    ...SECTIONS.flatMap((section) => [
      macro("SS", plainText(section)),
      ...terms(nouns.filter((noun) => noun.section === section).map(({ name, summary }) => [name, summary])),
    ]),
    macro("SH", "FLAGS OF THE SERVER"),
    "They may stand before the command or after it.",
    ...terms(pairs(shared.server)),
    macro("SH", "FLAGS OF OUTPUT"),
    ...terms(pairs(shared.output)),
    macro("SH", "FLAGS OF WATCHING"),
    ...terms(pairs(shared.watch)),
    macro("SH", "ENVIRONMENT"),
    ...terms(rows(introduction, "Variables")),
    macro("SH", "FILES"),
    ...terms([
      ["$XDG_CONFIG_HOME/moorage/config.json", "contexts"],
      ["$XDG_CONFIG_HOME/moorage/credentials.json", "the tokens of sign-ins; only its owner may read it"],
      ["$XDG_CACHE_HOME/moorage", "compiled code, and for seconds what completion was answered"],
    ]),
    macro("SH", "EXIT STATUS"),
    ...terms(rows(introduction, "Exit codes")),
    macro("SH", "SEE ALSO"),
    nouns.map(({ name }) => `\\fBmoorage\\-${plainText(name)}\\fP(1)`).join(",\n"),
  ]);
}

function nounPage(noun: Noun, examples: ReadonlyMap<string, string>, edition: Edition): string {
  const { name, summary, leaves, aliases } = noun;
  const own = leaves.length === 1 && leaves[0]?.path === name ? leaves[0] : undefined;
  return page([
    ...head(`moorage-${name}`, edition),
    macro("SH", "NAME"),
    `moorage\\-${plainText(name)} \\- ${plainText(summary)}`,
    macro("SH", "SYNOPSIS"),
    ".nf",
    ...leaves.map(({ usage }) => usageText(usage)),
    ".fi",
    ...(aliases.length > 0
      ? [
          ".PP",
          prose(`Instead of \`${name}\` it may also be called ${aliases.map((each) => `\`${each}\``).join(", ")}.`),
        ]
      : []),
    macro("SH", own === undefined ? "COMMANDS" : "DESCRIPTION"),
    ...leaves.flatMap((leaf) => [
      ...(own === undefined ? [macro("SS", plainText(leaf.path.slice(name.length + 1) || name))] : []),
      ...leafText(leaf, examples.get(leaf.path) ?? ""),
    ]),
    macro("SH", "SEE ALSO"),
    "\\fBmoorage\\fP(1)",
  ]);
}

function leafText({ description, aliases, arguments: words, flags, shares }: Leaf, example: string): string[] {
  const [, commands] = /```sh\n([^]*?)\n```/.exec(example) ?? [];
  const also = aliases.length > 0 ? ` Also \`${aliases.join("`, `")}\`.` : "";
  const refers = shares.map((group) => REFERS[group]).join(", ");
  return [
    prose(`${description.charAt(0).toUpperCase()}${description.slice(1).replace(/\.?$/, ".")}${also}`),
    ...terms([...words.map(({ syntax, help }) => [syntax, help] as const), ...pairs(flags)]),
    ...(refers === "" ? [] : [".PP", `See \\fBmoorage\\fP(1) for ${refers}.`]),
    ...(commands === undefined ? [] : [".PP", "Example:", ...verbatim(commands)]),
  ];
}

function head(name: string, { version, date }: Edition): string[] {
  return [
    String.raw`.\" Made from the tree of commands.`,
    macro("TH", plainText(name.toUpperCase()), "1", date, `moorage ${version}`, "Moorage"),
    ".ad l",
    ".nh",
  ];
}

function usageText(usage: string): string {
  return usage
    .split(" ")
    .map((word) => (/^[<[]/.test(word) ? `\\fI${plainText(word)}\\fP` : `\\fB${plainText(word)}\\fP`))
    .join(" ");
}

function pairs(flags: readonly Flag[]): [string, string][] {
  return flags.map(({ syntax, help }) => [syntax, help]);
}

/** The paragraph of the introduction that begins with a text. */
function paragraph(markdown: string, begin: string): string {
  const found = markdown.split(/\n\n+/).find((part) => part.startsWith(begin));
  if (found === undefined) throw new Error(`the introduction has no paragraph that begins with ${begin}`);
  return found;
}

/** The rows of the table below a heading of the introduction. */
function rows(markdown: string, heading: string): [string, string][] {
  const [, part = ""] = new RegExp(`^## ${heading}\n([^]*?)(?=^## )`, "m").exec(markdown) ?? [];
  const found = [...part.matchAll(/^\| (.+?) \| (.+?) \|$/gm)].slice(1);
  if (found.length === 0) throw new Error(`the introduction has no table below ${heading}`);
  return found.map(([, term = "", text = ""]) => [term.replaceAll("`", ""), text]);
}

function page(lines: readonly string[]): string {
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}
