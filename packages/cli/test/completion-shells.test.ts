// Completion in real shells: on a terminal, with the key that people press, and fish by its own question.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { moorage, run } from "./commands.ts";
import { type Place, placeWithServer } from "./completion.ts";
import { noTerminal, onTerminal, type Terminal } from "./terminal.ts";

const HOW_TO_RUN = "install it, and run: npm test -- cli/test/completion-shells";

/** Why a shell cannot be tested here; undefined where it can. */
async function without(shell: string): Promise<string | undefined> {
  return (await run(shell, ["--version"])).code === 0 ? undefined : `no ${shell} on this machine; ${HOW_TO_RUN}`;
}

// What is typed before the tabulator, and the line after it. `\s`: a space stands at its end, where the next word goes.
const LINES: readonly [typed: string, line: string][] = [
  ["moorage repo", String.raw`moorage repos\s`],
  ["moorage --context prod repos del", String.raw`moorage --context prod repos delete\s`],
  ["moorage repos get ac", "moorage repos get acme/"],
  ["moorage repos get acme/team/a", String.raw`moorage repos get acme/team/app\s`],
  ["moorage tags get acme/team/app:1", "moorage tags get acme/team/app:1."],
  ["moorage tags get acme/team/app:1.1", String.raw`moorage tags get acme/team/app:1.1\s`],
  ["moorage repos list --output=wi", String.raw`moorage repos list --output=wide\s`],
  ["moorage repos list -o jsonp", "moorage repos list -o jsonpath="],
  ["moorage repos list acme/two", String.raw`moorage repos list acme/two\ words\s`],
  ["moorage repos create acme/x -f some", String.raw`moorage repos create acme/x -f some-file.yaml\s`],
];

async function prepared(t: TestContext, shell: "bash" | "zsh" | "fish"): Promise<Place> {
  const place = await placeWithServer(t);
  writeFileSync(join(place.folder, "some-file.yaml"), "");
  const { code, stdout } = await moorage(["completion", shell], place);
  assert.equal(code, 0);
  writeFileSync(join(place.folder, `completion.${shell}`), stdout);
  return place;
}

/** Types each line and a tabulator, and compares the line that is there then. */
async function compareLines(terminal: Terminal, lines: typeof LINES): Promise<void> {
  for (const [typed, line] of lines) {
    terminal.type(`${typed}\t`);
    const end = line.endsWith(String.raw`\s`) ? `${line.slice(0, -2)} ` : line;
    const escaped = end.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    // What is typed next stands at the end of the word, or after a space.
    await terminal.shows(new RegExp(`^> ${escaped.trimEnd()}$`, "m"));
    terminal.type("+");
    await terminal.shows(new RegExp(`^> ${escaped}\\+$`, "m"));
    // Ctrl-U empties the line, Ctrl-L the screen.
    terminal.type("\u0015\u000c");
    await terminal.shows(/^>$/);
  }
}

for (const extra of [[], ["bash-completion"]] as const) {
  const title = extra.length > 0 ? "with bash-completion loaded before" : "alone";
  const loads = "/usr/share/bash-completion/bash_completion";
  test(`bash completes commands, flags, names with colons and spaces, and files: ${title}`, async (t) => {
    if (noTerminal !== undefined) return t.skip(noTerminal);
    const { folder, env } = await prepared(t, "bash");
    if (extra.length > 0 && (await run("test", ["-e", loads])).code !== 0)
      return t.skip(
        `no ${loads} on this machine; install bash-completion, and run: npm test -- cli/test/completion-shells`,
      );
    const lines = [
      extra.length > 0 ? `source ${loads}` : "",
      "source completion.bash",
      "PS1='> '",
      "bind 'set bell-style none'",
    ];
    writeFileSync(join(folder, "rc"), `${lines.join("\n")}\n`);
    const options = { program: "bash", cwd: folder, env, columns: 120, rows: 40 };
    const terminal = await onTerminal(t, ["--noprofile", "--rcfile", "rc", "-i"], options);
    await terminal.shows(/^>$/m);
    await compareLines(terminal, [
      ...LINES,
      ['moorage repos list "acme/two', 'moorage repos list "acme/two words"\\s'],
    ]);
    // What several candidates are is shown beside them.
    terminal.type("moorage completion \t\t");
    await terminal.shows(/(?:^| {2})powershell +\(5\.1 and later\)/m);
  });
}

test("bash's function can be asked without a terminal, and answers for an alias and a path of the command too", async (t) => {
  const { folder, env } = await prepared(t, "bash");
  const asked = async (line: string, word: string): Promise<string> => {
    const script = `source completion.bash; COMP_LINE=$1 COMP_POINT=\${#1} COMP_TYPE=9; _moorage "$2" x y; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { code, stdout, stderr } = await run("bash", ["-c", script, "bash", line, word], { cwd: folder, env });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    return stdout;
  };
  assert.equal(await asked("moorage repos get acme/team/", "moorage"), "acme/team/app\n");
  assert.equal(await asked("m tags get acme/team/app:1.1", "m"), "1.1\n");
  assert.equal(await asked(`${folder}/bin/moorage --de`, `${folder}/bin/moorage`), "--debug\n");
});

test("zsh completes commands, flags, names with colons and spaces, and files", async (t) => {
  const missing = noTerminal ?? (await without("zsh"));
  if (missing !== undefined) return t.skip(missing);
  const { folder, env } = await prepared(t, "zsh");
  const lines = ["PS1='> '", "unsetopt PROMPT_SP BEEP", "autoload -U compinit", "compinit -u", "source completion.zsh"];
  writeFileSync(join(folder, ".zshrc"), `${lines.join("\n")}\n`);
  const options = { program: "zsh", cwd: folder, env: { ...env, ZDOTDIR: folder }, columns: 120, rows: 40 };
  const terminal = await onTerminal(t, ["-d", "-i"], options);
  await terminal.shows(/^>$/m);
  await compareLines(terminal, LINES);
  terminal.type("moorage completion \t");
  await terminal.shows(/^powershell +-- 5\.1 and later$/m);
});

test("zsh finds the function in a folder of fpath", async (t) => {
  const missing = noTerminal ?? (await without("zsh"));
  if (missing !== undefined) return t.skip(missing);
  const { folder, env } = await prepared(t, "zsh");
  mkdirSync(join(folder, "functions"));
  writeFileSync(join(folder, "functions", "_moorage"), (await moorage(["completion", "zsh"])).stdout);
  const lines = [
    "PS1='> '",
    "unsetopt PROMPT_SP BEEP",
    "fpath=(functions $fpath)",
    "autoload -U compinit",
    "compinit -u",
  ];
  writeFileSync(join(folder, ".zshrc"), `${lines.join("\n")}\n`);
  const options = { program: "zsh", cwd: folder, env: { ...env, ZDOTDIR: folder }, columns: 120, rows: 40 };
  const terminal = await onTerminal(t, ["-d", "-i"], options);
  await terminal.shows(/^>$/m);
  await compareLines(terminal, LINES.slice(0, 3));
});

test("fish completes commands, flags, names with colons and spaces, and files", async (t) => {
  const missing = await without("fish");
  if (missing !== undefined) return t.skip(missing);
  const { folder, env } = await prepared(t, "fish");
  mkdirSync(join(folder, "config", "fish", "completions"), { recursive: true });
  const asked = async (line: string): Promise<string[]> => {
    const script = `source completion.fish; complete -C ${JSON.stringify(line)}`;
    const { code, stdout, stderr } = await run("fish", ["--no-config", "-c", script], { cwd: folder, env });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    return stdout.split("\n").filter((each) => each !== "");
  };
  for (const [line, expected] of [
    ["moorage repo", ["repos\trepositories: the tags and manifests of one image name"]],
    ["moorage --context prod repos del", ["delete\t…"]],
    ["moorage repos get ac", ["acme/"]],
    ["moorage tags get acme/team/app:1", ["acme/team/app:1.0\t…", "acme/team/app:1.1\t…"]],
    ["moorage repos list --output=wi", ["--output=wide\tmore columns"]],
    ["moorage repos list acme/two", ["acme/two words"]],
    ["moorage repos list 'acme/two w", ["acme/two words"]],
    ["moorage repos create acme/x -f some", ["some-file.yaml"]],
    ["moorage completion power", ["powershell\t5.1 and later"]],
  ] as [string, string[]][]) {
    const found = (await asked(line)).map((each, at) =>
      expected[at]?.endsWith("…") === true ? each.replace(/\t.*/, "\t…") : each,
    );
    assert.deepEqual(found, expected, line);
  }
});
