import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

interface Item {
  kind: string;
  source: string;
  target: string;
  action: string;
  why: string;
  digest?: string;
}
interface Counts {
  kind: string;
  [outcome: string]: string | number;
}

/** A registry to move from, and a server to move to, with the group `acme/old`. */
interface Move {
  there: Stage;
  here: Stage;
  /** Makes a plan; its items. */
  plan(...flags: string[]): Promise<Item[]>;
  /** Applies it; the exit code and what came of it. */
  apply(...flags: string[]): Promise<[code: number, result: { counts: Counts[]; failed: object[]; kept: object[] }]>;
  edit(change: (plan: { items: Item[] }) => void): void;
  digestOf(image: string): Promise<string>;
}

async function openMove(t: TestContext): Promise<Move> {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await here.ok("groups", "create", "acme/old");
  const command = ["import-from", "oci", there.url, "--into", "acme/old", "-o", "json"];
  const file = join(here.folder, "plan.json");
  return {
    there,
    here,
    async plan(...flags) {
      await here.ok(...command, "--plan", file, "--username", "moorage", "--password-file", "password", ...flags);
      return (JSON.parse(readFileSync(file, "utf8")) as { items: Item[] }).items;
    },
    async apply(...flags) {
      const pull = ["--pull-username", "moorage", "--pull-password-file", "password"];
      const { code, stdout, stderr } = await here.run([...command, "--apply", file, ...pull, ...flags]);
      assert.ok(stdout.startsWith("{"), stderr);
      return [code, JSON.parse(stdout) as Awaited<ReturnType<Move["apply"]>>[1]];
    },
    edit(change) {
      const plan = JSON.parse(readFileSync(file, "utf8")) as { items: Item[] };
      change(plan);
      writeFileSync(file, JSON.stringify(plan));
    },
    async digestOf(image) {
      const { digest } = await here.json<{ digest: string }>("tags", "get", image);
      return digest;
    },
  };
}

/** An outcome's count for a kind. */
function count(counts: Counts[], kind: string, outcome: string): unknown {
  return counts.find((each) => each.kind === kind)?.[outcome];
}

test("a registry moves in: planned, applied, applied again, finished", async (t) => {
  const { there, here, plan, apply, digestOf } = await openMove(t);
  await there.push("acme/app:1.0", 1);
  await there.push("acme/app:2.0", 2);
  await there.push("acme/team/web:1.0", 1);
  const items = await plan();
  assert.deepEqual(
    items.map(({ kind, source, target, action }) => [kind, source, target, action]),
    [
      ["group", "acme", "acme/old/acme", "create"],
      ["group", "acme/team", "acme/old/acme/team", "create"],
      ["repo", "acme/app", "acme/old/acme/app", "create"],
      ["tag", "acme/app:1.0", "acme/old/acme/app:1.0", "create"],
      ["tag", "acme/app:2.0", "acme/old/acme/app:2.0", "create"],
      ["repo", "acme/team/web", "acme/old/acme/team/web", "create"],
      ["tag", "acme/team/web:1.0", "acme/old/acme/team/web:1.0", "create"],
    ],
  );
  assert.equal(items.find(({ source }) => source === "acme/app:2.0")?.digest, BUILD[2]);
  await here.fails("groups", "get", "acme/old/acme");

  const [code, { counts }] = await apply();
  assert.equal(code, 0);
  assert.deepEqual(
    [count(counts, "group", "done"), count(counts, "repo", "done"), count(counts, "tag", "done")],
    [2, 2, 3],
  );
  assert.equal(await digestOf("acme/old/acme/app:2.0"), BUILD[2]);

  const [, again] = await apply();
  assert.deepEqual(
    [count(again.counts, "group", "same"), count(again.counts, "repo", "same"), count(again.counts, "tag", "same")],
    [2, 2, 3],
  );
  assert.deepEqual(
    (await plan()).map(({ action }) => action),
    Array.from({ length: 7 }, () => "same"),
  );

  const [finished] = await apply("--finish");
  assert.equal(finished, 0);
  const { syncConfig } = await here.json<{ syncConfig?: object }>("repos", "get", "acme/old/acme/app");
  assert.equal(syncConfig, undefined);
  await there.close();
  assert.match(await here.ok("images", "inspect", "acme/old/acme/app:2.0", "-o", "json"), new RegExp(BUILD[2]));
});

test("an image and a group there that share a name come both, as they may here", async (t) => {
  const { there, plan, apply, digestOf } = await openMove(t);
  await there.push("acme/team:1.0", 1);
  await there.push("acme/team/app:1.0", 2);
  assert.deepEqual(
    (await plan()).filter(({ action }) => action === "cannot"),
    [],
  );
  assert.equal((await apply())[0], 0);
  assert.equal(await digestOf("acme/old/acme/team:1.0"), BUILD[1]);
  assert.equal(await digestOf("acme/old/acme/team/app:1.0"), BUILD[2]);
  assert.deepEqual([...new Set((await plan()).map(({ action }) => action))], ["same"]);
});
