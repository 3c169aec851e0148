// The folder of a docker-registry moves in: its content is linked, and not a byte of it is stored twice.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { temporaryFolder } from "./commands.ts";
import { type DistributionFolder, distributionFolder } from "./distribution-folder.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

interface Item {
  kind: string;
  source: string;
  action: string;
  why: string;
}
interface Result {
  counts: Record<string, string | number>[];
  failed: { name: string; why: string }[];
  kept: { name: string; why: string }[];
  brought: { linked: number; copied: number; here: number; absent: number };
}

interface Move {
  old: DistributionFolder;
  here: Stage;
  plan(): Promise<Item[]>;
  apply(...flags: string[]): Promise<[code: number | null, result: Result]>;
}

async function openMove(t: TestContext): Promise<Move> {
  const here = await openStage(t);
  const old = distributionFolder(temporaryFolder(t));
  const command = ["import-from", "distribution", old.root, "--into", "acme"];
  const file = join(here.folder, "plan.json");
  return {
    old,
    here,
    async plan() {
      await here.ok(...command, "--plan", file);
      return (JSON.parse(readFileSync(file, "utf8")) as { items: Item[] }).items;
    },
    async apply(...flags) {
      const { code, stdout, stderr } = await here.run([...command, "--apply", file, "-o", "json", ...flags]);
      assert.ok(stdout.startsWith("{"), stderr);
      return [code, JSON.parse(stdout) as Result];
    },
  };
}

/** The inodes of a stage's blobs. */
function inodesOf({ folder }: Stage): Map<number, number> {
  const blobs = join(folder, "data", "blobs");
  const files = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return new Map(
    files.map((each) => {
      const { ino, size } = statSync(join(each.parentPath, each.name));
      return [ino, size];
    }),
  );
}

const outcomes = ({ counts }: Result): unknown =>
  counts.map((each) => [each["kind"], each["done"], each["same"], each["kept"], each["failed"]]);

test("a folder moves in by links: planned, applied, applied again; tags of here stay", async (t) => {
  const { old, here, plan, apply } = await openMove(t);
  await old.push("team/app", "1.0", 1, "2024-01-01T00:00:00Z");
  await old.push("team/app", "1.0", 2, "2024-02-01T00:00:00Z");
  await old.push("web", "latest", 2);
  const layer = old.blob("web", randomBytes(2_000_000));
  const config = old.blob("web", Buffer.from("{}"));
  const type = "application/vnd.oci.image";
  const large = old.manifest("web", {
    schemaVersion: 2,
    mediaType: `${type}.manifest.v1+json`,
    config: { mediaType: `${type}.config.v1+json`, ...config },
    layers: [{ mediaType: `${type}.layer.v1.tar`, ...layer }],
  });
  old.tag("web", "large", large);
  const items = await plan();
  assert.deepEqual(
    items.map(({ kind, source, action, why }) => [kind, source, action, why]),
    [
      ["group", "team", "create", ""],
      ["repo", "team/app", "create", ""],
      ["tag", "team/app:1.0", "create", ""],
      ["repo", "web", "create", ""],
      ["tag", "web:large", "create", ""],
      ["tag", "web:latest", "create", ""],
    ],
  );
  const [code, result] = await apply("--history");
  assert.deepEqual([code, result.failed], [0, []]);
  assert.deepEqual(outcomes(result), [
    ["group", 1, 0, 0, 0],
    ["repo", 2, 0, 0, 0],
    ["tag", 3, 0, 0, 0],
  ]);
  assert.ok(result.brought.linked > 2_000_000);
  assert.deepEqual([result.brought.copied, result.brought.absent], [0, 0]);
  const { ino, nlink } = statSync(old.dataOf(layer.digest));
  assert.deepEqual([inodesOf(here).get(ino), nlink], [2_000_000, 2]);
  const moves = await here.json<{ moves: object[] }>("tags", "history", "acme/team/app:1.0");
  assert.deepEqual(
    (moves.moves as { time: string; digest: string; reason: string }[]).map(({ time, digest, reason }) => [
      time.slice(0, 10),
      digest,
      reason,
    ]),
    [
      ["2024-02-01", BUILD[2], "import"],
      ["2024-01-01", BUILD[1], "import"],
    ],
  );
  for (const image of [`acme/team/app@${BUILD[1]}`, "acme/team/app:1.0", "acme/web:latest", "acme/web:large"])
    await here.ok("images", "inspect", image);
  // What was linked is read by the server, and found to be right.
  assert.match(await here.ok("fsck", "--deep"), /^clean: /);

  const [again, nothing] = await apply("--history");
  assert.deepEqual(
    [again, outcomes(nothing), nothing.brought],
    [
      0,
      [
        ["group", 0, 1, 0, 0],
        ["repo", 0, 2, 0, 0],
        ["tag", 0, 3, 0, 0],
      ],
      { linked: 0, copied: 0, here: 0, absent: 0 },
    ],
  );
  assert.equal(statSync(old.dataOf(layer.digest)).nlink, 2);
  assert.ok((await plan()).every(({ action }) => action === "same"));

  await here.push("acme/web:latest", 3);
  await old.push("team/app", "1.0", 3, "2024-03-01T00:00:00Z");
  await plan();
  const [, later] = await apply("--history");
  assert.deepEqual(
    later.kept.map(({ name }) => name),
    ["acme/web:latest"],
  );
  assert.equal((await here.json<{ digest: string }>("tags", "get", "acme/team/app:1.0")).digest, BUILD[3]);
});

test("a registry that runs is followed, while its content is linked from its folder", async (t) => {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const old = distributionFolder(temporaryFolder(t));
  await there.push("acme/app:1.0", 1);
  await there.push("acme/app:2.0", 2);
  // The folder has one of the two.
  await old.push("acme/app", "1.0", 1);
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await here.ok("groups", "create", "acme/old");
  const command = ["import-from", "oci", there.url, "--into", "acme/old"];
  await here.ok(...command, "--plan", "plan.json", "--username", "robot", "--password-file", "password");
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  const { brought, failed } = await here.json<Result>(
    ...command,
    "--apply",
    "plan.json",
    ...pull,
    "--blobs-from",
    old.root,
  );
  assert.deepEqual([failed, brought.copied, brought.absent], [[], 0, 1]);
  assert.ok(brought.linked > 0);
  for (const [tag, build] of [
    ["1.0", 1],
    ["2.0", 2],
  ] as const)
    assert.equal((await here.json<{ digest: string }>("tags", "get", `acme/old/acme/app:${tag}`)).digest, BUILD[build]);
  const shared = inodesOf(here);
  const linked = readdirSync(old.root, { recursive: true, withFileTypes: true }).filter(
    (each) => each.name === "data" && shared.has(statSync(join(each.parentPath, each.name)).ino),
  );
  assert.ok(linked.length > 0);
});
