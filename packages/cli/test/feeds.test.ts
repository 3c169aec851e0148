import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { LAUNCHER, moorage, startServing, temporaryFolder } from "./commands.ts";

const RECORD = {
  id: "ACME-2026-1",
  modified: "2026-11-01T08:00:00Z",
  affected: [{ package: { ecosystem: "npm", name: "app" }, versions: ["1.0.0"] }],
};

/** A folder with the data of a server that runs. */
async function installation(t: TestContext): Promise<string> {
  const cwd = temporaryFolder(t);
  await startServing(t, process.execPath, [LAUNCHER, "serve", "--port", "0"], { cwd });
  return cwd;
}

test("feeds are added, imported and listed while a server runs, as JSON in the API's form", async (t) => {
  const cwd = await installation(t);
  mkdirSync(join(cwd, "records"));
  writeFileSync(join(cwd, "records", "one.json"), JSON.stringify(RECORD));
  const feeds = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moorage(["feeds", ...args], { cwd });
    assert.equal(code, 0, stderr);
    return stdout.trimEnd();
  };
  assert.equal(await feeds("list"), "no feeds");
  assert.equal(await feeds("add", "notes", "--format", "osv", "--licence", "CC-BY-4.0"), "added notes");
  assert.equal(
    await feeds("import", "records", "--feed", "notes"),
    "notes: 1 record read, 1 new or changed, 0 removed, 0 not read",
  );
  const [feed, ...others] = JSON.parse(await feeds("list", "--json")) as Record<string, unknown>[];
  assert.deepEqual(others, []);
  const { createTime, attemptTime, successTime, ...rest } = feed ?? {};
  for (const time of [createTime, attemptTime, successTime]) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(rest, {
    name: "notes",
    format: "osv",
    licence: "CC-BY-4.0",
    address: "",
    interval: "21600s",
    products: [],
    origin: "command",
    records: 1,
    withdrawn: 0,
    problems: 0,
    newestRecordTime: "2026-11-01T08:00:00.000Z",
    error: "",
  });
});

test("what is wrong with a feed is said in one line that names it, and nothing is added", async (t) => {
  const cwd = await installation(t);
  for (const [args, complaint] of [
    [["add", "a", "--format", "foo", "--licence", "CC0-1.0"], /^moorage: format: must be one of osv, /],
    [["add", "a", "--format", "osv", "--licence", "CC-BY-ND-4.0"], /^moorage: licence: does not allow derivatives/],
    [["add", "a/b", "--format", "osv", "--licence", "CC0-1.0"], /^moorage: name: /],
    [["import", "nowhere.zip", "--feed", "a"], /^moorage: .*\ba\b/],
  ] as const) {
    const { code, stderr } = await moorage(["feeds", ...args], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, complaint);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  }
  assert.equal((await moorage(["feeds", "list"], { cwd })).stdout, "no feeds\n");
});
