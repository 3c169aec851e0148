// Public projects of Harbor and public repositories of Quay move in. Both are fakes, see fake-registries.ts.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PlanItem } from "../src/move-in/plan.ts";
import { startFakeHarbor, startFakeQuay } from "./fake-registries.ts";
import { BUILD, openStage, type Stage } from "./tasks-stage.ts";

interface Result {
  counts: { kind: string; done: number; same: number; left: number; failed: number }[];
  failed: { message: string }[];
}

const WHY =
  "with --public, where the operator here allows public groups: everybody pulls all that is in the group without a log-in";

async function stages(t: TestContext, env: Record<string, string> = {}): Promise<{ there: Stage; here: Stage }> {
  const there = await openStage(t);
  const here = await openStage(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1", ...env });
  writeFileSync(join(here.folder, "password"), (await there.ok("token")).trim());
  await here.ok("groups", "create", "acme/old");
  return { there, here };
}

/** Plans and applies as somebody who moves that registry. */
function move(here: Stage, command: string[], read: string[]) {
  const pull = ["--pull-username", "robot", "--pull-password-file", "password"];
  return {
    async plan(): Promise<string[]> {
      await here.ok(...command, "--plan", "plan.json", ...read);
      const { items } = JSON.parse(readFileSync(join(here.folder, "plan.json"), "utf8")) as { items: PlanItem[] };
      return items
        .filter(({ kind }) => kind === "public")
        .map(({ source, target, action, why }) => `${source} -> ${target} ${action}: ${why}`);
    },
    async apply(...flags: string[]): Promise<number[]> {
      const { counts } = await here.json<Result>(...command, "--apply", "plan.json", ...pull, ...flags);
      const { done = 0, same = 0, left = 0 } = counts.find(({ kind }) => kind === "public") ?? {};
      return [done, same, left];
    },
    fails: (...flags: string[]) => here.fails(...command, "--apply", "plan.json", ...pull, ...flags),
  };
}

/** The status of a manifest for whoever comes without a log-in. */
async function anybody({ url, host }: Stage, image: string): Promise<number> {
  const answer = await fetch(`${url}/token?service=${host}&scope=repository:${image}:pull`);
  const { token } = (await answer.json()) as { token: string };
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/v2/${image}/manifests/1`, { method: "HEAD", headers })).status;
}

const PUSHED = "2024-01-01T00:00:00.000Z";
const artifact = { digest: BUILD[1], push_time: PUSHED, tags: [{ name: "1", push_time: PUSHED }] };
const PROJECTS = [
  { name: "open", project_id: 1, metadata: { public: "true" }, repositories: { app: [artifact] } },
  { name: "shut", project_id: 2, metadata: { public: "false" }, repositories: { app: [artifact] } },
];
const BY_ADMIN = ["--username", "admin", "--password-file", "password"];

test("a public project of Harbor becomes a public group when that is asked for, and no other one", async (t) => {
  const { there, here } = await stages(t, { MOORAGE_PUBLIC_GROUPS: "1" });
  for (const name of ["open", "shut"]) {
    const org = (await there.json<{ uid: string }>("groups", "create", name)).uid;
    assert.ok(org);
    await there.push(`${name}/app:1`, 1);
  }
  const { url } = await startFakeHarbor(t, there.url, PROJECTS);
  const { plan, apply } = move(here, ["import-from", "harbor", url, "--into", "acme/old"], BY_ADMIN);
  assert.deepEqual(await plan(), [`open: public project -> acme/old/open create: ${WHY}`]);
  assert.deepEqual(await apply(), [0, 0, 1]);
  assert.equal(await anybody(here, "acme/old/open/app"), 403);
  assert.deepEqual(await apply("--public"), [1, 0, 0]);
  assert.equal(await anybody(here, "acme/old/open/app"), 200);
  assert.equal(await anybody(here, "acme/old/shut/app"), 403);
  assert.deepEqual(await apply("--public"), [0, 1, 0]);
  assert.deepEqual(await plan(), ["open: public project -> acme/old/open same: "]);

  // A plan is read like what a stranger wrote: nobody else becomes everybody.
  const file = join(here.folder, "plan.json");
  const text = readFileSync(file, "utf8");
  for (const [from, to] of [
    ['"identity": "everybody"', '"identity": "signed-in"'],
    ['"role": "registry.pull"', '"role": "owner"'],
  ] as const) {
    const at =
      text.indexOf('"kind": "public"') < 0 ? text.replaceAll(from.replace(": ", ":"), to) : text.replaceAll(from, to);
    assert.notEqual(at, text);
    writeFileSync(file, at);
    const { fails } = move(here, ["import-from", "harbor", url, "--into", "acme/old"], BY_ADMIN);
    assert.equal((await fails("--public"))[0], 2);
  }
});

test("without public groups the item fails with the reason, and what else comes does", async (t) => {
  const { there, here } = await stages(t);
  await there.ok("groups", "create", "open");
  await there.push("open/app:1", 1);
  const { url } = await startFakeHarbor(t, there.url, PROJECTS.slice(0, 1));
  const { plan, fails } = move(here, ["import-from", "harbor", url, "--into", "acme/old"], BY_ADMIN);
  await plan();
  assert.equal((await fails("--public"))[0], 9);
  assert.equal(await anybody(here, "acme/old/open/app"), 403);
});

test("an organization of Quay becomes public where all of it is, and otherwise each repository is named", async (t) => {
  const { there, here } = await stages(t, { MOORAGE_PUBLIC_GROUPS: "1" });
  await there.ok("groups", "create", "open");
  const tags = [{ name: "1", start_ts: Date.parse("2024-01-01T00:00:00Z") / 1000, manifest_digest: BUILD[1] }];
  const names = ["open/app", "acme/app", "acme/other"];
  for (const name of names) await there.push(`${name}:1`, 1);
  const { url } = await startFakeQuay(
    t,
    there.url,
    Object.fromEntries(names.map((name) => [name, tags])),
    { "organization/acme": { teams: {} }, "organization/open": { teams: {} } },
    ["open/app", "acme/app"],
  );
  const read = [
    "--username",
    "$oauthtoken",
    "--password-file",
    "password",
    "--namespace",
    "acme",
    "--namespace",
    "open",
  ];
  const { plan, apply } = move(here, ["import-from", "quay", url, "--into", "acme/old"], read);
  const why =
    "1 of the 2 repositories of acme are private, and here a group is public with all that is in it: move what is public to a group of its own";
  assert.deepEqual(await plan(), [
    `acme/app: public repository ->  cannot: ${why}`,
    `open: public repositories -> acme/old/open create: ${WHY}`,
  ]);
  assert.deepEqual(await apply("--public"), [1, 0, 0]);
  assert.equal(await anybody(here, "acme/old/open/app"), 200);
  assert.equal(await anybody(here, "acme/old/acme/app"), 403);
});
