// The registry of Debian's package docker-registry, as teams run it, moves in. Without the program the tests are
// skipped, and say so.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { buildSampleImage } from "../src/oci/image.ts";
import { openRegistry } from "../src/oci/registry.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { freePort } from "../../server/test/support/unused-port.ts";
import { temporaryFolder } from "./commands.ts";
import { BUILD, openStage } from "./tasks-stage.ts";

const PROGRAM = process.env["DOCKER_REGISTRY"] ?? "docker-registry";
const missing = isThere() ? false : "no docker-registry; to run this: apt-get install docker-registry";

function isThere(): boolean {
  try {
    execFileSync(PROGRAM, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Starts one on a folder of its own. Its URL. */
async function startDockerRegistry(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  mkdirSync(join(folder, "data"));
  const config = [
    "version: 0.1",
    "log: {level: error}",
    `storage: {filesystem: {rootdirectory: ${join(folder, "data")}}}`,
    `http: {addr: "127.0.0.1:${port}"}`,
  ];
  writeFileSync(join(folder, "config.yml"), config.join("\n"));
  const child = spawn(PROGRAM, ["serve", join(folder, "config.yml")], { stdio: "ignore" });
  t.after(() => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/v2/`).catch(() => undefined))?.status === 200);
  return url;
}

/** Pushes a build of the sample image. */
async function push(url: string, name: string, build: 1 | 2 | 3): Promise<void> {
  const [repository = "", tag = ""] = name.split(":");
  await openRegistry({ url }).pushImage(repository, tag, await buildSampleImage(build));
}

test("a docker-registry moves in, with clients first and content after", { skip: missing }, async (t) => {
  const old = await startDockerRegistry(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  for (const [name, build] of [
    ["web:1.0", 1],
    ["web:2.0", 2],
    ["team/tools/build:7", 3],
  ] as const)
    await push(old, name, build);
  const command = ["import-from", "oci", old, "--into", "acme", "-o", "json"];
  await here.ok(...command, "--plan", "plan.json");
  const { items, content } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as {
    items: { kind: string; source: string }[];
    content: { bytes: number };
  };
  assert.deepEqual(
    items.map(({ kind, source }) => `${kind} ${source}`),
    [
      "group team",
      "group team/tools",
      "repo team/tools/build",
      "tag team/tools/build:7",
      "repo web",
      "tag web:1.0",
      "tag web:2.0",
    ],
  );
  assert.ok(content.bytes > 0);
  await here.ok(...command, "--apply", "plan.json");
  await here.push("acme/web:1.0", 3);
  await push(old, "web:1.0", 2);
  await push(old, "web:late", 1);
  const result = await here.json<{ kept: { name: string }[]; failed: object[] }>(
    ...command.slice(0, -2),
    "--apply",
    "plan.json",
    "--finish",
  );
  assert.deepEqual([result.kept.map(({ name }) => name), result.failed], [["acme/web:1.0"], []]);
  const digests = await here.json<{ tags: { name: string; digest: string }[] }>("tags", "list", "acme/web");
  assert.deepEqual(Object.fromEntries(digests.tags.map(({ name, digest }) => [name, digest])), {
    "1.0": BUILD[3],
    "2.0": BUILD[2],
    late: BUILD[1],
  });
});
