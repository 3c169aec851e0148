import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { checkInstallation, exportInstallation, importInstallation, loadConfig } from "../../../server/src/index.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";

// Advisories belong to the installation: an export carries them, and fsck knows their tables.
const ADVISORIES = "/vulnerabilities/v2/advisories";

async function place(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const env = await databaseEnv(dataDir);
  t.after(() => dropDatabase(dataDir));
  return { dataDir, env, config: loadConfig({ MOORAGE_DATA_DIR: dataDir, ...env }) };
}

test("an export carries advisories, their events and how they are found", { timeout: 300_000 }, async (t) => {
  const [here, there] = [await place(t), await place(t)];
  const first = await startInstallation(t, here.env, here.dataDir);
  const group = first.bootstrap.organization.uid;
  const fields = { artifactName: "acme/web", componentName: "zlib", aliases: ["CVE-2026-1"] };
  const events = [
    { detection: { scanv1: { scanner: "one" } }, findings: "AAEC/w==" },
    { fixed: { fixedVersion: "2" }, reviewState: "APPROVED" },
  ];
  const made = await first.api("POST", `${ADVISORIES}/${group}`, { ...fields, events });
  const gone = await first.api("POST", `${ADVISORIES}/${group}`, { ...fields, aliases: ["CVE-2026-2"], events });
  await first.api("DELETE", `${ADVISORIES}/${gone.uid}`);
  const lists = ["query=CME/W", "aliases=cve-2026-1", "latestEventType=FIXED", "query=zli&eventReviewStates=APPROVED"];
  const answers = async (server: typeof first): Promise<string[]> => {
    const found: string[] = [];
    for (const path of [`/${made.uid}`, `/${made.uid}/events`, ...lists.map((query) => `?${query}`)])
      found.push((await server.ask("GET", ADVISORIES + path, { token: server.platform })).text);
    return found;
  };
  const before = await answers(first);
  for (const text of before.slice(2)) assert.match(text, /"totalCount":"1"/);
  await first.close();

  const out = temporaryFolder(t);
  await exportInstallation(here.config, out, SILENT);
  await importInstallation(there.config, out, SILENT);
  const second = await startInstallation(t, there.env, there.dataDir);
  assert.deepEqual(await answers(second), before);
  const same = await second.ask("POST", `${ADVISORIES}/${group}`, { token: second.platform, json: fields });
  assert.equal(same.status, 409, same.text);
  const again = await second.ask("GET", `${ADVISORIES}/${gone.uid}`, { token: second.platform });
  assert.equal(again.status, 404);
  await second.api("POST", `${ADVISORIES}/${group}`, { ...fields, aliases: ["CVE-2026-2"] });
});

test("fsck finds and repairs what is wrong with the tables of advisories", { timeout: 300_000 }, async (t) => {
  const { dataDir, env, config } = await place(t);
  const server = await startInstallation(t, env, dataDir);
  const group = server.bootstrap.organization.uid;
  const make = (artifactName: string) =>
    server.api("POST", `${ADVISORIES}/${group}`, {
      artifactName,
      aliases: ["CVE-2026-1"],
      events: [{ fixed: { fixedVersion: "2" }, reviewState: "APPROVED" }],
    });
  const [one, two] = [await make("one"), await make("two")];
  const { uid: deleted } = await make("deleted");
  await server.api("DELETE", `${ADVISORIES}/${deleted}`);
  await server.close();
  const fsck = (repair: boolean) => checkInstallation(config, { repair, deep: false }, SILENT);
  const { db, close } = await openTestStore(dataDir);
  t.after(close);
  assert.deepEqual((await fsck(false)).findings, []);
  const [lost] = [newUid(group)];
  await db.updateTable("advisory_events").set({ parent: lost }).where("parent", "=", deleted).execute();
  await db.updateTable("advisories").set({ latest_type: 1 }).where("uid", "=", one.uid).execute();
  await db.deleteFrom("advisory_suffixes").where("advisory", "=", two.uid).execute();
  await db.insertInto("advisory_suffixes").values({ organization: group, suffix: "x", advisory: deleted }).execute();
  await db.insertInto("advisory_aliases").values({ advisory: lost, alias: "x", subject: "x" }).execute();
  const [decision] = await db.selectFrom("advisory_decisions").selectAll().where("advisory", "=", two.uid).execute();
  assert.ok(decision !== undefined);
  await db.updateTable("advisory_decisions").set({ until_time: 9 }).where("advisory", "=", one.uid).execute();
  await db.deleteFrom("advisory_decision_ids").where("advisory", "=", two.uid).execute();
  await db
    .insertInto("advisory_decisions")
    .values({ ...decision, advisory: lost })
    .execute();
  await db
    .insertInto("advisory_decision_ids")
    .values({ parent: group, alias: "x", advisory: lost, from_time: 1 })
    .execute();
  const found = await fsck(false);
  assert.deepEqual(found.findings.map(({ kind }) => kind).toSorted(), [
    "advisory-aliases-stale",
    "advisory-decision-ids-stale",
    "advisory-decision-wrong",
    "advisory-decisions-stale",
    "advisory-event-without-advisory",
    "advisory-latest-event-wrong",
    "advisory-not-searchable",
    "advisory-suffixes-stale",
  ]);
  assert.equal((await fsck(true)).clean, true);
  assert.deepEqual((await fsck(false)).findings, []);
  const decided = await db
    .selectFrom("advisory_decisions")
    .select("advisory")
    .where("until_time", "is", null)
    .execute();
  assert.deepEqual(decided.map(({ advisory }) => advisory).toSorted(), [one.uid, two.uid].toSorted());
  await close();
  const again = await startInstallation(t, env, dataDir);
  const list = async (query: string): Promise<string> =>
    (await again.ask("GET", `${ADVISORIES}?${query}`, { token: again.platform })).text;
  assert.match(await list("query=wo"), new RegExp(two.uid));
  assert.match(await list("latestEventType=FIXED"), new RegExp(one.uid));
});
