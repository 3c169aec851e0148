// The files of `moorage apply`, as documents of YAML with their places.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Document, ParsedNode } from "yaml";
import { Failure, UsageFailure } from "../command/failure.ts";
import { textOf } from "../resources/files.ts";

/** Where something stands in a file. Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A document, and where its nodes are. */
export interface Source {
  readonly file: string;
  readonly document: Document.Parsed;
  placeOf(node: unknown): Place;
}

/** Something that is wrong in a file. */
export interface Problem {
  readonly at: Place;
  readonly message: string;
}

const MOST_FILES = 10_000;
const IN_FOLDERS = /\.(?:ya?ml|json)$/;

/** The files that are named, with those of folders: in these all of YAML and JSON, in the order of their names. */
export function filesOf(named: readonly string[]): string[] {
  const files = named.flatMap((name) => {
    if (name === "-" || !isFolder(name)) return [name];
    const found = readdirSync(name, { recursive: true, encoding: "utf8" }).filter((each) => IN_FOLDERS.test(each));
    if (found.length === 0) throw new UsageFailure(`${name} holds no *.yaml, *.yml or *.json`, { field: "--file" });
    return found.toSorted().map((each) => join(name, each));
  });
  if (files.length > MOST_FILES) throw new UsageFailure(`more than ${MOST_FILES} files`, { field: "--file" });
  return files;
}

function isFolder(name: string): boolean {
  try {
    return statSync(name).isDirectory();
  } catch (cause) {
    throw new UsageFailure(`cannot read ${name}: ${(cause as Error).message}`, { field: "--file", cause });
  }
}

/** The documents of a file. Adds what is no YAML to the problems. Throws a UsageFailure for what cannot be read. */
export async function documentsIn(name: string, problems: Problem[]): Promise<Source[]> {
  const text = await textOf(name);
  const file = name === "-" ? "standard input" : name;
  const { LineCounter, parseAllDocuments } = await import("yaml");
  const lines = new LineCounter();
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  return [...documents].flatMap((document) => {
    for (const { message, pos } of document.errors) problems.push({ at: placeAt(pos[0]), message });
    if (document.errors.length > 0 || document.contents === null) return [];
    const whole = document as Document.Parsed;
    const placeOf = (node: unknown): Place => {
      const range = (node as ParsedNode | null | undefined)?.range ?? whole.contents?.range;
      return placeAt(range?.[0] ?? 0);
    };
    return [{ file, document: whole, placeOf }];
  });
}

/** A place as compilers write it. */
export function placeText({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** Throws all problems, each in a line of its own. */
export function throwProblems(problems: readonly Problem[], print: (line: string) => void): void {
  if (problems.length === 0) return;
  for (const { at, message } of problems) print(`${placeText(at)}: ${message}`);
  throw new Failure(`${problems.length === 1 ? "a problem" : `${problems.length} problems`} in what is to be applied`, {
    hint: "nothing was changed",
  });
}
