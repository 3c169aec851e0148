import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { environment } from "./commands.ts";
import { noTerminal, onTerminal } from "./terminal.ts";

const PROGRAM = fileURLToPath(new URL("progress-program.ts", import.meta.url));
const SHOW_CURSOR = "\u001b[?25h";
const HIDE_CURSOR = "\u001b[?25l";

/** What the program is started with, and what says how far its work is. */
async function work(t: TestContext): Promise<{ args: string[]; say(line: string): Promise<void> }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  let socket: Socket | undefined;
  const connected = once(server, "connection").then(([first]) => {
    socket = (first as Socket).on("error", () => {});
    return socket;
  });
  t.after(() => {
    server.close();
    socket?.destroy();
  });
  return {
    args: [PROGRAM, String((server.address() as AddressInfo).port)],
    async say(line) {
      (await connected).write(`${line}\n`);
    },
  };
}

test("a bar overwrites itself, a finished step keeps its line, notes stand above", { skip: noTerminal }, async (t) => {
  const { args, say } = await work(t);
  const terminal = await onTerminal(t, args, { columns: 70 });
  await terminal.shows(/^\[\.{30}\] blobs: 0 B of 4\.0 KiB \(0%\)/m);
  assert.ok(terminal.printed().includes(HIDE_CURSOR));
  await say("note");
  await terminal.shows(/^to know$/m);
  await say("4096");
  assert.equal(await terminal.exit(), 0);
  assert.deepEqual(terminal.screen(), [
    "[..............................] blobs: 0 B of 4.0 KiB (0%)",
    "to know",
    `[${"#".repeat(30)}] blobs: 4.0 KiB of 4.0 KiB (100%)`,
    `[${"#".repeat(30)}] tables: 3 rows of 3 rows (100%)`,
    "done",
  ]);
  assert.ok(terminal.printed().lastIndexOf(SHOW_CURSOR) > terminal.printed().lastIndexOf(HIDE_CURSOR));
});

test("a bar fits the terminal right after its size changed", { skip: noTerminal }, async (t) => {
  const { args } = await work(t);
  const terminal = await onTerminal(t, args, { columns: 70 });
  await terminal.shows(/blobs: 0 B of 4\.0 KiB \(0%\)/);
  terminal.resize(40, 24);
  await terminal.shows(/^\[\.{10}\] blobs: 0 B of 4\.0 KiB \(0%\)$/);
  terminal.resize(20, 24);
  await terminal.shows(/^blobs: 0 B of 4\.0 K$/);
  terminal.resize(70, 24);
  await terminal.shows(/^\[\.{30}\] blobs: 0 B of 4\.0 KiB \(0%\)$/);
});

test("Ctrl-C ends work with 130, says what that leaves, and gives the cursor back", { skip: noTerminal }, async (t) => {
  const { args } = await work(t);
  const terminal = await onTerminal(t, args);
  await terminal.shows(/blobs: 0 B/);
  terminal.type("\u0003");
  assert.equal(await terminal.exit(), 130);
  assert.match(terminal.screen().join("\n"), /^moorage: stopped: the half of it is there: do it again$/m);
  assert.ok(terminal.printed().lastIndexOf(SHOW_CURSOR) > terminal.printed().lastIndexOf(HIDE_CURSOR));
});

test("a terminal that cannot move its cursor gets no bars", { skip: noTerminal }, async (t) => {
  const { args, say } = await work(t);
  const terminal = await onTerminal(t, args, { env: { TERM: "dumb" } });
  await say("note\n4096");
  assert.equal(await terminal.exit(), 0);
  assert.ok(!terminal.printed().includes("\u001b") && !terminal.printed().includes("blobs"), terminal.printed());
});

test("in a pipe there are notes and no bars", async (t) => {
  const { args, say } = await work(t);
  const child = spawn(process.execPath, args, { env: environment({}), stdio: "pipe" });
  await say("note\n4096");
  const [said, printed] = await Promise.all([text(child.stderr), text(child.stdout), once(child, "exit")]);
  assert.deepEqual([said, printed], ["to know\n", "done\n"]);
});

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  test(
    `${signal} ends work in a pipe with ${code}`,
    { skip: process.platform === "win32" && "there are no such signals" },
    async (t) => {
      const { args, say } = await work(t);
      const child = spawn(process.execPath, args, { env: environment({}), stdio: "pipe" });
      await say("note");
      await once(child.stderr, "data");
      child.kill(signal);
      assert.deepEqual(await once(child, "exit"), [code, null]);
    },
  );
