import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { environment, LAUNCHER, moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";
import { openStage } from "./tasks-stage.ts";
import { eventually } from "../../server/test/support/eventually.ts";

type Event = { type: string; data: { body: { repository: string; tag: string } } };

test(
  "events are printed as they happen, over a restart of the server, until Ctrl-C",
  { timeout: 300_000 },
  async (t) => {
    const { url, folder, fails, push, close } = await openStage(t);
    assert.deepEqual(await fails("events", "watch"), [
      2,
      "moorage: name the group whose events are meant; there are acme, public",
    ]);
    await push("acme/app:1.0", 1);
    const args = ["events", "watch", "acme", "--since", "1h", "--type", "registry.push", "--tagged-only", "-o", "json"];
    const child = spawn(process.execPath, [LAUNCHER, ...args], {
      cwd: folder,
      env: environment({ XDG_CONFIG_HOME: join(folder, "config") }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    let words = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      words += text;
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async (): Promise<string> => {
      const { value } = await lines.next();
      const { type, data } = JSON.parse(String(value)) as Event;
      assert.equal(type, "dev.moorage.registry.push.v1");
      return `${data.body.repository}:${data.body.tag}`;
    };
    assert.equal(await next(), "acme/app:1.0");
    await push("acme/app:2.0", 2);
    assert.equal(await next(), "acme/app:2.0");
    // A connection that breaks loses nothing, and nothing comes twice.
    await close();
    await eventually(() => words.includes("trying again"));
    const port = new URL(url).port;
    await serveHere(t, folder, { MOORAGE_PORT: port });
    await push("acme/app:3.0", 3);
    assert.equal(await next(), "acme/app:3.0");
    assert.match(words, /^moorage: UNAVAILABLE: .*; trying again\nmoorage: connected again\n$/);
    child.kill("SIGINT");
    assert.deepEqual(await exited, [130, null]);
  },
);

test("gc --dry-run asks a server elsewhere, and nothing else may be asked of it", { timeout: 300_000 }, async (t) => {
  const { url, ok, push } = await openStage(t);
  await push("acme/app:1.0", 1);
  const MOORAGE_TOKEN = (await ok("token")).trim();
  const cwd = temporaryFolder(t);
  mkdirSync(join(cwd, "config"));
  const elsewhere = (...args: string[]) =>
    moorage(["gc", ...args], { cwd, env: { XDG_CONFIG_HOME: join(cwd, "config"), MOORAGE_TOKEN } });
  const preview = await elsewhere("--dry-run", "--url", url);
  assert.deepEqual(
    [preview.code, preview.stdout],
    [0, "would remove 0 tags, 0 manifests, 0 blobs: 0 B (0 bytes)\n"],
    preview.stderr,
  );
  const json = JSON.parse((await elsewhere("--dry-run", "--url", url, "-o", "json")).stdout) as { repoCount: string };
  assert.equal(json.repoCount, "0");
  for (const [args, line] of [
    [
      ["--url", url],
      "a server collects by itself: only --dry-run can be asked of it; run moorage gc on its machine, with --data-dir",
    ],
    [["--dry-run", "--url", url, "--repo", "acme/app"], "--repo: is for an installation of this machine"],
  ] as const) {
    const { code, stdout, stderr } = await elsewhere(...args);
    assert.deepEqual([code, stdout, stderr], [2, "", `moorage: ${line}\n`]);
  }
});
