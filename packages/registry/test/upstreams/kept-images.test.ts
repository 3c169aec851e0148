// What becomes of images that came from a registry: the policy of their repos, and how long what nobody pulls is kept.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { type Answer, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { collectInstallation, loadConfig } from "../../../server/src/index.ts";
import { select } from "../../../kernel/src/store/index.ts";
import { databaseEnv, openTestStore } from "../../../server/test/support/database.ts";

const PATH = "/registry/v2/upstreams";
const DAY_MS = 86_400_000;
const WEEK = "604800s";

async function startWorld(t: TestContext, fields: object) {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, { ...LOOPBACK, MOORAGE_GC_INTERVAL: "0" });
  const organization = here.bootstrap.organization.uid;
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${organization}`, { name: "hub" });
  const { uid } = await here.api("POST", `${PATH}/${group}`, { registry: hub.registry, ...fields });
  const { db, close } = await openTestStore(here.dataDir);
  t.after(close);
  const pull = (path: string): Promise<Answer> => here.ask("GET", `/v2/acme/hub/${path}`, { token: here.registry });
  const policies = async (): Promise<Record<string, unknown>> => {
    const { repos } = await here.api<{ repos: { name: string; uid: string; tagPolicy?: unknown }[] }>(
      "GET",
      "/registry/v2/repos?page_size=200",
    );
    return Object.fromEntries(
      repos.filter(({ uid: repo }) => repo.startsWith(`${group}/`)).map(({ name, tagPolicy }) => [name, tagPolicy]),
    );
  };
  return { hub, here, group, uid, db, pull, policies };
}

test("repos that come get the upstream's policy, and its changes until they have one of their own", async (t) => {
  const tagPolicy = { retention: [{ tagPattern: "pr-.*", keepLast: 3 }], protectedTags: ["v.*"] };
  const { hub, here, uid, pull, policies } = await startWorld(t, { tagPolicy, keepUnpulled: WEEK });
  const upstream = await here.api<Record<string, unknown>>("GET", `${PATH}/${uid}`);
  assert.equal(upstream["keepUnpulled"], WEEK);
  for (const name of ["one", "two"]) {
    hub.push(name, "1", name);
    assert.equal((await pull(`${name}/manifests/1`)).status, 200);
  }
  const kept = (policy: unknown): [unknown, unknown] => {
    const { retention, historyRetention } = policy as {
      retention: { tagPattern: string; keepPulledFor?: string }[];
      historyRetention?: string;
    };
    return [retention.map(({ tagPattern, keepPulledFor }) => `${tagPattern} ${keepPulledFor}`), historyRetention];
  };
  const both = await policies();
  assert.deepEqual(kept(both["one"]), [["pr-.* undefined", ` ${WEEK}`], "86400s"]);
  assert.deepEqual(both["two"], both["one"]);

  const { repos } = await here.api<{ repos: { name: string; uid: string }[] }>("GET", "/registry/v2/repos?name=two");
  await here.api("PATCH", `/registry/v2/repos/${repos[0]?.uid}`, { tagPolicy: { protectedTags: ["mine"] } });
  const own = (await policies())["two"];
  await here.api("PATCH", `${PATH}/${uid}?updateMask=keepUnpulled`, { keepUnpulled: "172800s" });
  const changed = await policies();
  assert.deepEqual(kept(changed["one"]), [["pr-.* undefined", " 172800s"], "86400s"]);
  assert.deepEqual(changed["two"], own, "a policy of its own stays");

  // What is nobody's any more cannot be fetched again, so that it is kept.
  await here.api("POST", `${PATH}/${uid}:detach`, {});
  assert.deepEqual(kept((await policies())["one"]), [["pr-.* undefined"], undefined]);
});

test("what nobody pulls for so long goes, by tag and by digest, and comes again when it is pulled", async (t) => {
  const { hub, here, db, pull, policies } = await startWorld(t, { keepUnpulled: WEEK });
  const images = new Map(["old", "new", "pinned", "forgotten"].map((tag) => [tag, hub.push("app", tag, tag).digest]));
  const digests = new Map(["a", "b", "runs"].map((name) => [name, hub.push("app", [], name).digest]));
  for (const reference of [...images.keys(), ...digests.values()])
    assert.equal((await pull(`app/manifests/${reference}`)).status, 200, reference);
  assert.ok((await policies())["app"] !== undefined);
  const held = async (): Promise<string[]> =>
    (await db.selectFrom("manifests").select("digest").orderBy("digest").execute()).map(({ digest }) => digest);
  const pulls = async (): Promise<number> => (await db.selectFrom("last_pulls").select("digest").execute()).length;
  const all = [...images.values(), ...digests.values()].toSorted();
  await eventually(async () => (await held()).length === all.length && (await pulls()) === all.length);
  const config = loadConfig({ MOORAGE_DATA_DIR: here.dataDir, ...(await databaseEnv(here.dataDir)) });
  const collect = async (): Promise<void> => {
    const foreseen = await collectInstallation(config, { dryRun: true, graceMs: 0 });
    assert.deepEqual(await collectInstallation(config, { dryRun: false, graceMs: 0 }), foreseen);
  };

  // All of it is a month older, but for two pulls.
  const pulledLately = [images.get("new") ?? "", digests.get("a") ?? ""].toSorted();
  // It was pulled long ago, and runs.
  const runs = digests.get("runs") ?? "";
  const references = [{ image: "acme/hub/app", digest: runs }];
  const noted = await here.api<Record<string, unknown>>("POST", "/registry/v2/usage:report", {
    source: "k",
    references,
  });
  assert.equal(noted["recorded"], 1, JSON.stringify(noted));
  const older = async (table: string, column: string, where = "1 = 1"): Promise<void> =>
    void (await select(db, `update ${table} set ${column} = ${column} - ${30 * DAY_MS} where ${where}`, []));
  const isLate = pulledLately.map((digest) => `'${digest}'`).join(", ");
  await older("tags", "update_time");
  await older("tags", "last_pull_time", "name <> 'new'");
  await older("tag_history", "time");
  await older("manifests", "touch_time");
  await older("last_pulls", "time", `digest not in (${isLate})`);
  await select(db, `update running_images set time = time - ${10 * DAY_MS}`, []);
  await collect();
  assert.deepEqual(await held(), all, "not all pulls of the time are known yet");
  await older("pull_coverage", "since");
  await older("pull_coverage", "since");
  await collect();
  const tags = await db.selectFrom("tags").select("name").execute();
  assert.deepEqual(
    tags.map(({ name }) => name),
    ["new"],
  );
  await older("tag_history", "time");
  await collect();
  assert.deepEqual(await held(), [...pulledLately, runs].toSorted(), "what was said to run counts for a week after");
  await select(db, `update running_images set time = time - ${7 * DAY_MS}`, []);
  await collect();
  assert.deepEqual(await held(), pulledLately);
  const asked = hub.seen.length;
  assert.equal((await pull(`app/manifests/${digests.get("a")}`)).status, 200);
  assert.equal(hub.seen.length, asked, "what is pulled by its digest alone is still here");
  assert.equal((await pull("app/manifests/forgotten")).status, 200);
  const forgotten = images.get("forgotten") ?? "";
  await eventually(async () => (await held()).includes(forgotten));
});

test("to set a policy for what comes takes the right to change policies, and a day is the least", async (t) => {
  const { here, group, uid } = await startWorld(t, {});
  let made = 0;
  const status = async (role: string, fields: object): Promise<number> => {
    const { identity } = await here.addIdentity(group, `${role}-${(made += 1)}`, role);
    const token = await here.tokenFor("platform", identity);
    return (await here.ask("PATCH", `${PATH}/${uid}`, { token, json: fields })).status;
  };
  const { uid: role } = await here.api("POST", `/iam/v2/roles/${here.bootstrap.organization.uid}`, {
    name: "upstreams-only",
    capabilities: ["CAP_REGISTRY_UPSTREAMS_UPDATE", "CAP_REGISTRY_UPSTREAMS_LIST"],
  });
  assert.ok(role !== "");
  assert.equal(await status("upstreams-only", { description: "x" }), 200);
  assert.equal(await status("upstreams-only", { keepUnpulled: WEEK }), 403);
  assert.equal(await status("upstreams-only", { tagPolicy: { protectedTags: ["v1"] } }), 403);
  assert.equal(await status("owner", { keepUnpulled: WEEK }), 200);
  for (const fields of [
    { keepUnpulled: "3600s" },
    { keepUnpulled: "86400.5s" },
    { tagPolicy: { immutableTags: ["("] } },
  ])
    assert.equal((await here.ask("PATCH", `${PATH}/${uid}`, { token: here.platform, json: fields })).status, 400);
});
