// A document whose commands are tested: parses it, runs its commands in one shell, and compares what the shell printed
// with what the document shows.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { environment } from "./commands.ts";

/**
 * One `sh` block, and the `text` block right after it, if there is one. Lines count from 1; `line` is that of the
 * opening fence.
 */
export interface Block {
  readonly line: number;
  readonly commands: readonly string[];
  /** The program that the block needs, which not every machine has: the word after `sh`. */
  readonly program?: string;
  readonly shown?: { readonly line: number; readonly lines: readonly string[] };
}

/**
 * The result of the shell. `printed` is the standard output of each block; `messages` the standard error of all of
 * them.
 */
export interface Played {
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly printed: readonly string[];
  readonly messages: string;
}

/**
 * How a document is run: its name for messages, the shell's folder, variables beside this process's, and the time limit
 * for the whole document.
 */
export interface Stage {
  readonly name: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const MAX_MESSAGES_CHARS = 20_000;
const ANYTHING = "…";

/**
 * The blocks of a document. Throws an Error for a block that does not end, and for a `text` block without an `sh` block
 * before it, which would be compared with nothing.
 */
export function blocksOf(name: string, text: string): Block[] {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let follows: Block | undefined;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, fence, info] = /^(```+)([^`]*)$/.exec(line) ?? [];
    if (fence === undefined || info === undefined) {
      if (line.trim() !== "") follows = undefined;
      continue;
    }
    const end = lines.indexOf(fence, at + 1);
    if (end < 0) throw new Error(`${name}:${at + 1}: the block does not end`);
    const inside = lines.slice(at + 1, end);
    if (info.trim() === "text") {
      if (follows === undefined)
        throw new Error(
          `${name}:${at + 1}: a text block is the output of the sh block right before it, and there is none`,
        );
      blocks[blocks.length - 1] = { ...follows, shown: { line: at + 1, lines: inside } };
    }
    const [isShell, program] = /^sh(?: ([\w-]+))?$/.exec(info.trim()) ?? [];
    follows =
      isShell === undefined ? undefined : { line: at + 1, commands: inside, ...(program !== undefined && { program }) };
    if (follows !== undefined) blocks.push(follows);
    at = end;
  }
  return blocks;
}

/**
 * Runs all blocks in one bash. Each line of the script has its line number of the document, so that bash's own messages
 * name the document's lines, and each block prints into a file of its own. Processes that the blocks have left running
 * are ended with the shell.
 */
export async function play(blocks: readonly Block[], { name, folder, env, timeoutMs }: Stage): Promise<Played> {
  const out = join(folder, ".printed");
  mkdirSync(out);
  const script: string[] = [];
  for (const [index, { line, commands }] of blocks.entries()) {
    const trap = index === 0 ? `trap 'echo "${name}: line $LINENO: $BASH_COMMAND" >&2' ERR; ` : "";
    while (script.length < line - 1) script.push("");
    script.push(`${trap}exec >"${join(out, String(index))}"`, ...commands);
  }
  const path = join(out, basename(name));
  writeFileSync(path, `${script.join("\n")}\n`);
  const child = spawn("bash", ["-eEu", path], {
    cwd: folder,
    env: withoutNpmSettings(env),
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  let messages = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    messages = (messages + text).slice(-MAX_MESSAGES_CHARS);
  });
  let timedOut = false;
  const killer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, timeoutMs);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(killer);
  killGroup(child.pid);
  const printed = blocks
    .map((_, index) => join(out, String(index)))
    .map((file) => (existsSync(file) ? readFileSync(file, "utf8") : ""));
  return { code, timedOut, printed, messages };
}

// `npm test` hands its user's settings on as variables, which would decide what npm does in a document.
function withoutNpmSettings(env: Stage["env"]): NodeJS.ProcessEnv {
  const all = Object.entries(environment(env));
  return Object.fromEntries(all.filter(([name]) => name in env || !name.toLowerCase().startsWith("npm_config_")));
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process group has ended already.
  }
}

/** What is wrong with the document, in words; undefined when the output is as shown. */
export function faultOf(name: string, blocks: readonly Block[], played: Played): string | undefined {
  const tail = played.messages === "" ? "" : `\nstandard error:\n${indented(played.messages)}`;
  for (const [index, { line, shown }] of blocks.entries()) {
    const printed = played.printed[index] ?? "";
    const reached = played.code === 0 || played.printed.slice(index + 1).some((later) => later !== "");
    const missed = shown && reached ? firstMissed(shown.lines, printed) : undefined;
    if (!shown || missed === undefined) continue;
    const expected = shown.lines.map((text, at) => `${at === missed ? "-> " : "   "}${text}`).join("\n");
    const more = missed >= shown.lines.length ? " (there is more than that)" : "";
    const words = `the block printed something else than line ${shown.line} shows${more}`;
    return `${name}:${line}: ${words}\nexpected:\n${expected}\nprinted:\n${indented(printed)}${tail}`;
  }
  if (played.timedOut)
    return `${name}: the commands took too long; printed so far:\n${indented(played.printed.join(""))}${tail}`;
  if (played.code === 0) return undefined;
  const last = played.printed.findLast((text) => text !== "") ?? "";
  return `${name}: a command failed, and bash ended with ${played.code}; printed last:\n${indented(last)}${tail}`;
}

function indented(text: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `   ${line}`)
    .join("\n");
}

/**
 * The index of the first expected line that the output does not have; the number of lines when the output has more
 * after them; undefined when they agree, blanks and CR at ends of lines aside. `…` matches anything within a line; a
 * line of it alone any number of lines.
 */
export function firstMissed(expected: readonly string[], printed: string): number | undefined {
  const output = printed.trim() === "" ? "" : `${printed.trimEnd()}\n`;
  const sources = expected.map((line) =>
    line.trim() === ANYTHING ? "(?:.*\\n)*?" : `${lineSource(line.trimEnd())}[ \\t\\r]*\\n`,
  );
  if (new RegExp(`^${sources.join("")}$`).test(output)) return undefined;
  const agreed = sources.findLastIndex((_, last) => new RegExp(`^${sources.slice(0, last + 1).join("")}`).test(output));
  return agreed + 1;
}

function lineSource(line: string): string {
  return line
    .split(ANYTHING)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join(".*");
}
