// The check of documents itself: a document with wrong output must fail.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "./commands.ts";
import { type Block, blocksOf, faultOf, firstMissed, play } from "./document.ts";
import { missingPrograms, possible } from "./documents.ts";
import { shellCommands } from "./shell-commands.ts";

const BIN = fileURLToPath(new URL("../../../node_modules/.bin", import.meta.url));

const fence = "```";
const documentOf = (...blocks: [info: string, body: string][]): string =>
  ["# A document", ...blocks.map(([info, body]) => `${fence}${info}\n${body}\n${fence}`), ""].join("\n\n");

async function judge(t: TestContext, text: string, timeoutMs = 30_000): Promise<string | undefined> {
  const blocks = await possible(t, blocksOf("some.md", text));
  return faultOf(
    "some.md",
    blocks,
    await play(blocks, { name: "some.md", folder: temporaryFolder(t), env: { GIVEN: "given" }, timeoutMs }),
  );
}

test("a correct document has no fault; later blocks have the variables of earlier ones", async (t) => {
  if ((await missingPrograms()).includes("bash")) return t.skip("not on this machine: bash");
  const text = documentOf(
    ["sh", "A=1\nf() { echo $GIVEN $A; }"],
    ["json", "not run"],
    ["sh", "f; echo b; date; echo c"],
    ["text", "given 1\n…\nc"],
    ["sh", 'echo "a.b 5 x"'],
    ["text", "a.b … x"],
    ["sh no-such-program", "false"],
    ["text", "not printed"],
  );
  assert.equal(await judge(t, text), undefined);
});

test("a wrong output, a failing command and one that hangs are reported with the document's line", async (t) => {
  if ((await missingPrograms()).includes("bash")) return t.skip("not on this machine: bash");
  const wrong = await judge(t, documentOf(["sh", "echo a\necho axb"], ["text", "a\na.b"]));
  assert.match(wrong ?? "", /^some\.md:3: .* line 8 shows\nexpected:\n {3}a\n-> a\.b\nprinted:\n {3}a\n {3}axb$/);
  assert.match((await judge(t, documentOf(["sh", "echo a\necho b"], ["text", "a"]))) ?? "", /there is more than that/);
  const failing = await judge(t, documentOf(["sh", "echo a"], ["sh", "true\necho seen\nfalse\necho not seen"]));
  assert.match(failing ?? "", /ended with 1; printed last:\n {3}seen\n.*\n.*some\.md: line 10: false/);
  assert.match((await judge(t, documentOf(["sh", "echo $NOT_SET"]))) ?? "", /line 4: NOT_SET: unbound variable/);
  assert.match((await judge(t, documentOf(["sh", "sleep 60 & sleep 60"]), 500)) ?? "", /took too long/);
});

test("moorage prints and ends in a document as a program does, with its arguments, variables and input", async (t) => {
  if ((await missingPrograms()).includes("bash")) return t.skip("not on this machine: bash");
  const same = [
    'outcome() { set +eE; trap - ERR; "$@" >$1.out 2>$1.err; echo $? >$1.code; set -eE; }',
    'same() { outcome moorage "$@"; outcome command moorage "$@"; for f in out err code; do cmp moorage.$f command.$f; done; }',
  ].join("\n");
  const text = documentOf(
    ["sh", same],
    ["sh", "same --version; cat moorage.code"],
    ["text", "0"],
    ["sh", "same repos lst; cat moorage.code"],
    ["text", "2"],
    ["sh", "same tags list '' $'two\\nlines' 'grüße'; MOORAGE_URL=http://127.0.0.1:1 same repos list --token x"],
    ["sh", "moorage completion bash | cat >piped; [ -s piped ]; echo $(moorage --version | wc -l)"],
    ["text", "1"],
    ["sh", "echo '{}' | moorage apply -f - --dry-run >/dev/null 2>said || true; [ -s said ]"],
  );
  const blocks = blocksOf("some.md", text);
  const env = { PATH: `${BIN}:${process.env["PATH"] ?? ""}`, ...(await shellCommands(t)) };
  const stage = { name: "some.md", folder: temporaryFolder(t), env, timeoutMs: 120_000 };
  assert.equal(faultOf("some.md", blocks, await play(blocks, stage)), undefined);
});

test("a text block without a command before it, and a block without an end, are faults of the document", () => {
  assert.throws(
    () => blocksOf("some.md", documentOf(["sh", "a"], ["yaml", "b"], ["text", "c"])),
    /some\.md:11: a text block/,
  );
  assert.throws(() => blocksOf("some.md", `${fence}sh\na\n${fence}\nprose\n${fence}text\na\n${fence}\n`), /some\.md:5/);
  assert.throws(() => blocksOf("some.md", `${fence}sh\na\n`), /some\.md:1: the block does not end/);
  const [some]: Block[] = blocksOf("some.md", documentOf(["sh no-such-program", "a"], ["text", "b"]));
  assert.deepEqual([some?.program, some?.shown?.lines], ["no-such-program", ["b"]]);
  const [block]: Block[] = blocksOf("some.md", documentOf(["sh", "a"], ["text", "b"]));
  assert.deepEqual(block, { line: 3, commands: ["a"], shown: { line: 7, lines: ["b"] } });
});

test("expected lines are compared as a whole, except where they have …", () => {
  for (const [expected, printed, missed] of [
    [["a", "b"], "a\nb\n", undefined],
    [["a", "…"], "a\n", undefined],
    [["…", "c"], "a\nb\nc\n", undefined],
    [["…", "c"], "a\nc\nb\n", 2],
    [["x…z"], "xyz\n", undefined],
    [["x…z"], "x\nz\n", 0],
    [["a"], "ab\n", 0],
    [["a", "b"], "a\n", 1],
    [["{…}"], "{}", undefined],
    [[], "", undefined],
  ] as [string[], string, number | undefined][])
    assert.equal(firstMissed(expected, printed), missed, JSON.stringify([expected, printed]));
});
