// The command that brings a folder is killed at many points; run again, it ends as one that was never killed.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sized } from "../../server/test/support/extent.ts";
import { startFront } from "../../server/test/support/upstream.ts";
import { killedAfter, started } from "./command-kills.ts";
import { temporaryFolder } from "./commands.ts";
import { distributionFolder } from "./distribution-folder.ts";
import { openStage } from "./tasks-stage.ts";

const POINTS = sized(5, 20);
const LAYER_BYTES = 1_000_000;

test("killed at any point, the same command goes on; no byte is there twice", async (t) => {
  const here = await openStage(t);
  const front = await startFront(t, here.url);
  const token = (await here.ok("token")).trim();
  const old = distributionFolder(temporaryFolder(t));
  await old.push("app", "1.0", 1, "2024-01-01T00:00:00Z");
  await old.push("app", "1.0", 2, "2024-01-02T00:00:00Z");
  await old.push("team/web", "3", 3, "2024-01-03T00:00:00Z");
  // Two repositories share a layer.
  const bytes = randomBytes(LAYER_BYTES);
  for (const repo of ["app", "team/web"]) {
    const layer = old.blob(repo, bytes);
    const manifest = old.manifest(repo, {
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: { mediaType: "application/vnd.oci.image.config.v1+json", ...old.blob(repo, Buffer.from("{}")) },
      layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", ...layer }],
    });
    old.tag(repo, "shared", manifest);
  }
  const command = (group: string, ...flags: string[]): string[] => [
    "import-from",
    "distribution",
    old.root,
    "--into",
    `acme/${group}`,
    ...flags,
  ];
  const apply = (group: string): string[] => command(group, "--apply", `${group}.json`, "--history");
  const planned = async (group: string): Promise<void> => {
    await here.ok("groups", "create", `acme/${group}`);
    await here.ok(...command(group, "--plan", `${group}.json`));
  };
  const stateOf = async (group: string): Promise<unknown> => {
    const states = [];
    for (const tag of ["app:1.0", "app:shared", "team/web:3", "team/web:shared"]) {
      const { moves } = await here.json<{ moves: { time: string; digest: string; reason: string }[] }>(
        "tags",
        "history",
        `acme/${group}/${tag}`,
      );
      for (const { digest } of moves)
        await here.ok("images", "inspect", `acme/${group}/${tag.split(":")[0]}@${digest}`);
      states.push(moves.map(({ time, digest, reason }) => [time, digest, reason]));
    }
    return states;
  };
  await planned("whole");
  await here.ok(...apply("whole"));
  const expected = await stateOf("whole");
  for (let point = 1; point <= POINTS; point += 1) {
    const group = `killed${point}`;
    await planned(group);
    const killed = await killedAfter(
      front,
      Math.ceil((point * 40) / POINTS),
      started(here, apply(group), { url: front.url, token }),
    );
    await here.ok(...apply(group));
    assert.deepEqual(await stateOf(group), expected, `killed at point ${point}: ${killed}`);
  }
  const inodesOf = (folder: string): Map<number, number> =>
    new Map(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map((each) => statSync(join(each.parentPath, each.name)))
        .map(({ ino, size }) => [ino, size]),
    );
  const theirs = inodesOf(old.root);
  const own = [...inodesOf(join(here.folder, "data", "blobs"))].filter(([ino]) => !theirs.has(ino));
  assert.ok(own.every(([, size]) => size < LAYER_BYTES));
  assert.match(await here.ok("fsck", "--deep"), /^clean: /);
});
