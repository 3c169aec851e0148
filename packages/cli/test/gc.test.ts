import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

const CONTENT = "x".repeat(2048);
const DIGEST = `sha256:${createHash("sha256").update(CONTENT).digest("hex")}`;
const GOES = "0 tags, 0 manifests, 1 blob: 2.0 KiB (2048 bytes)";
const NOTHING = "0 tags, 0 manifests, 0 blobs: 0 B (0 bytes)";
const PROMISE =
  /^space is freed (\S+) after the last thing that needed it was deleted, .*; after a crash at most 25h10m later$/;

test(
  "gc prints what a collection would remove, then removes it, while a server runs, as text and as JSON",
  { timeout: 300_000 },
  async (t) => {
    const cwd = temporaryFolder(t);
    const server = await serveHere(t, cwd);
    const { stdout: token } = await moorage(["token", "--audience", "registry"], { cwd });
    const url = `${server.url}/v2/acme/app/blobs/uploads/?digest=${DIGEST}`;
    assert.equal(
      (await fetch(url, { method: "POST", body: CONTENT, headers: { authorization: `Bearer ${token.trim()}` } }))
        .status,
      201,
    );
    const gc = async (...args: string[]): Promise<string[]> => {
      const { code, stdout, stderr } = await moorage(["gc", ...args], { cwd });
      assert.equal(code, 0, stderr);
      return stdout.trimEnd().split("\n");
    };
    const [young = "", promise = "", ...more] = await gc("--dry-run");
    assert.equal(young, `would remove ${NOTHING}`);
    assert.equal(PROMISE.exec(promise)?.[1], "24h");
    assert.deepEqual(more, []);
    // The grace is over once more time than that has passed.
    await wait(20);
    const printed = await gc("--dry-run", "--grace", "10ms");
    assert.deepEqual(printed.slice(0, 2), [`acme/app: ${GOES}`, `would remove ${GOES}`]);
    assert.equal(PROMISE.exec(printed[2] ?? "")?.[1], "10ms");
    const counts = { tags: 0, manifests: 0, blobs: 1, bytes: 2048 };
    const json = JSON.parse(
      (await gc("--dry-run", "--grace", "10ms", "--repo", "acme/app", "--json")).join("\n"),
    ) as unknown;
    assert.deepEqual(json, { dryRun: true, graceMs: 10, repos: [{ name: "acme/app", ...counts }], total: counts });
    assert.deepEqual((await gc("--grace", "10ms")).slice(0, 2), [`acme/app: ${GOES}`, `removed ${GOES}`]);
    assert.equal((await gc("--grace", "10ms"))[0], `removed ${NOTHING}`);
  },
);

test(
  "gc ends with one line for invalid values and for a folder without an installation",
  { timeout: 300_000 },
  async (t) => {
    const cwd = temporaryFolder(t);
    for (const [args, exit, expected] of [
      [["--grace", "soon"], 2, /^moorage: --grace: must be a duration such as 0s, 15m or 24h, not soon\n$/],
      [[], 1, /^moorage: there is no installation in \S+\n$/],
      [["--database-url", "nonsense"], 1, /^moorage: MOORAGE_DATABASE_URL: /],
    ] as const) {
      const { code, stdout, stderr } = await moorage(["gc", ...args], { cwd });
      assert.deepEqual([code, stdout], [exit, ""]);
      assert.match(stderr, expected);
      assert.equal(stderr.trimEnd().split("\n").length, 1);
    }
  },
);
