// What people see at a terminal: questions, colors, tables that fit, tables that are watched.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { eventually } from "../../server/test/support/eventually.ts";
import { environment, LAUNCHER } from "./commands.ts";
import { openQuick, type Quick } from "./quick.ts";
import { BUILD } from "./tasks-stage.ts";
import { noTerminal, onTerminal, type Terminal } from "./terminal.ts";

const CTRL_C = "\u0003";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";
const HOSTILE = "\u001b[2Jgone\u009b31m\u202e";

/** A server with the repos `acme/app`, whose description would clear the screen, and `acme/b`. */
async function open(t: TestContext): Promise<Quick & { app: string; on: (...args: string[]) => Promise<Terminal> }> {
  const quick = await openQuick(t);
  const { groups } = await quick.api<{ groups: { uid: string }[] }>("GET", "/iam/v2/groups?name=acme");
  const acme = groups[0]?.uid ?? "";
  const { uid: app } = await quick.api("POST", `/registry/v2/repos/${acme}`, { name: "app", description: HOSTILE });
  await quick.api("POST", `/registry/v2/repos/${acme}`, { name: "b", description: "words ".repeat(40) });
  return {
    ...quick,
    app,
    on: (...args) => onTerminal(t, [LAUNCHER, ...args], { cwd: quick.folder, env: quick.env }),
  };
}

/** Whether the last word about the cursor is to show it. */
function hasCursor(printed: string): boolean {
  return printed.lastIndexOf(SHOW_CURSOR) >= printed.lastIndexOf(HIDE_CURSOR);
}

test("on a terminal", { skip: noTerminal, timeout: 300_000 }, async (t) => {
  const { on, api, app, as, done, folder, env, push } = await open(t);
  await push("acme/app:1.0", 1);

  await t.test("what cannot be taken back is shown and asked; no is the answer unless it is yes", async () => {
    const no = await on("repos", "delete", "acme/b");
    await no.shows(/^Deletes the repo acme\/b\. Go on\? \[y\/N\]$/m);
    no.type("\r");
    assert.equal(await no.exit(), 0);
    assert.match(no.screen().join("\n"), /^Nothing was deleted$/m);
    assert.equal(await done("repos", "get", "acme/b", "-o", "name"), "acme/b\n");

    const left = await on("repos", "delete", "acme/b");
    await left.shows(/Go on\? \[y\/N\]$/m);
    left.type(CTRL_C);
    assert.equal(await left.exit(), 130);
    assert.equal(await done("repos", "get", "acme/b", "-o", "name"), "acme/b\n");

    const piped = await as("repos", "delete", "acme/b");
    assert.deepEqual([piped.code, piped.stdout], [2, ""]);
    assert.match(piped.stderr, /^moorage: Deletes the repo acme\/b: nobody is there to ask; add --yes\n$/);
  });

  await t.test("a table fits the terminal, with ages; what servers say does not control it", async () => {
    const list = await on("repos", "list", "acme");
    assert.equal(await list.exit(), 0);
    const lines = list.screen();
    assert.match(lines[0] ?? "", /^NAME +DESCRIPTION +UPDATED$/);
    assert.match(lines[1] ?? "", /^acme\/app +\?\[2Jgone\?31m\? +(?:now|\d+[smh] ago)$/);
    assert.match(lines[2] ?? "", /^acme\/b +words (?:words )+.*… +(?:now|\d+[smh] ago)$/);
    for (const line of list.printed().split("\r\n")) assert.ok(stripVTControlCharacters(line).length <= 80, line);
    for (const format of ["wide", "json", "yaml", "csv", "jsonpath=$..description", "template={{{description}}}"]) {
      const other = await on("repos", "list", "acme", "-o", format);
      assert.equal(await other.exit(), 0);
      for (const control of ["\u001b[2J", "\u009b", "\u202e"])
        assert.ok(!other.printed().includes(control), `${format}: ${JSON.stringify(other.printed())}`);
      assert.match(other.printed(), /gone/);
    }
  });

  await t.test("colors are for terminals, and for whoever forces them", async () => {
    await done("tags", "create", "acme/app:old", "--digest", BUILD[1], "--deprecated");
    const dimmed = "\u001b[2macme/app:old\u001b[22m";
    const list = async (extra: Record<string, string>): Promise<string> => {
      const terminal = await onTerminal(t, [LAUNCHER, "tags", "list"], { cwd: folder, env: { ...env, ...extra } });
      assert.equal(await terminal.exit(), 0);
      return terminal.printed();
    };
    assert.ok((await list({})).includes(dimmed));
    for (const [name, value] of [
      ["NO_COLOR", "1"],
      ["TERM", "dumb"],
      ["FORCE_COLOR", "0"],
    ] as const)
      assert.ok(!(await list({ [name]: value })).includes("\u001b"), name);
    assert.ok((await list({ NO_COLOR: "1", FORCE_COLOR: "1" })).includes(dimmed));
    assert.ok(!(await done("tags", "list")).includes("\u001b"));
  });

  await t.test("a watched table is drawn anew at a change and at a new size; Ctrl-C ends it with 130", async () => {
    const watched = await on("repos", "list", "acme", "--watch", "--interval", "1s");
    await watched.shows(/^acme\/b .*\n\nasks every 1s, Ctrl-C ends$/m);
    await api("PATCH", `/registry/v2/repos/${app}?updateMask=description`, { description: "another" });
    await watched.shows(/^acme\/app +another +/m);
    assert.equal(watched.screen().length, 5, watched.screen().join("\n"));
    watched.type(CTRL_C);
    assert.equal(await watched.exit(), 130);
    assert.ok(hasCursor(watched.printed()));

    const still = await on("repos", "list", "acme", "--watch", "--interval", "1h");
    await still.shows(/asks every 3600s, Ctrl-C ends$/);
    still.resize(50, 24);
    await still.shows(/^acme\/b {4}words [words ]+… {2}\S+(?: ago)?$/m);
    assert.ok(
      still.screen().every((line) => line.length <= 50) && still.screen().length === 5,
      still.screen().join("\n"),
    );
    still.resize(120, 4);
    await still.shows(/^NAME +DESCRIPTION.*\n… and 2 more$/m);
    still.type(CTRL_C);
    assert.equal(await still.exit(), 130);
    assert.ok(hasCursor(still.printed()));

    const history = await on("tags", "history", "acme/app:moved", "--watch", "--interval", "1s");
    await history.shows(/there never was a tag acme\/app:moved/);
    assert.equal(await history.exit(), 3);
    await done("tags", "create", "acme/app:moved", "--digest", BUILD[1]);
    const moves = await on("tags", "history", "acme/app:moved", "--watch", "--interval", "1s");
    await moves.shows(/ +api +sha256:/);
    await done("tags", "delete", "acme/app:moved", "--yes");
    await moves.shows(/ +delete /);
    moves.type(CTRL_C);
    assert.equal(await moves.exit(), 130);
  });
});

test(
  "in a pipe, --watch prints what changed, and asks with the ETags of what it knows",
  { timeout: 300_000 },
  async (t) => {
    const { api, app, done, folder, env } = await open(t);
    const args = [
      LAUNCHER,
      "repos",
      "list",
      "acme",
      "--watch",
      "--interval",
      "1s",
      "--debug",
      "-o",
      "template={{name}}: {{description}}",
    ];
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: environment(env),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    t.after(() => child.kill("SIGKILL"));
    const seen = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("utf8").on("data", (text: string) => (seen[name] += text));
    const comes = async (name: keyof typeof seen, pattern: RegExp): Promise<void> => {
      await eventually(() => {
        if (pattern.test(seen[name])) return true;
        assert.equal(child.exitCode, null, seen.stderr);
        return false;
      });
    };
    const first = `app: ${HOSTILE}\nb: ${"words ".repeat(40)}\n`;
    await comes("stderr", /\b304\b/);
    assert.equal(seen.stdout, first);
    await api("PATCH", `/registry/v2/repos/${app}?updateMask=description`, { description: "another" });
    await comes("stdout", /another\n$/);
    await done("repos", "delete", "acme/app", "--yes");
    await comes("stderr", /^gone: acme\/app$/m);
    assert.equal(seen.stdout, `${first}app: another\n`);
    child.kill("SIGINT");
    assert.deepEqual(await exited, [130, null]);
  },
);
