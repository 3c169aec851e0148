// Policies and blocks in exports and in fsck, and what becomes of them with their group.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { exportInstallation, importInstallation, loadConfig } from "../../../server/src/index.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { type Installation, startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { publishDocument } from "../../../server/test/support/npm.ts";

const BLOCKS = "/libraries/v2/blocks";
const POLICIES = "/libraries/v2/artifactPolicies";

interface Listed {
  uid: string;
  version: string;
  count: number;
}

const blocksOf = async ({ api }: Installation): Promise<Listed[]> =>
  (await api<{ blocks: Listed[] }>("GET", BLOCKS)).blocks;
const policiesOf = async ({ api }: Installation): Promise<unknown[]> =>
  (await api<{ artifactPolicies: unknown[] }>("GET", POLICIES)).artifactPolicies;

/** Asks for the file of the version that the policy blocks; answers its status. */
async function askFor({ url, registry }: Installation, group: string): Promise<number> {
  const path = `${url}/npm/${group}/left/-/left-1.0.0.tgz`;
  return (await fetch(path, { headers: { authorization: `Bearer ${registry}` } })).status;
}

async function publish({ url, registry }: Installation, group: string): Promise<void> {
  const { status } = await fetch(`${url}/npm/${group}/left`, {
    method: "PUT",
    headers: { authorization: `Bearer ${registry}`, "content-type": "application/json" },
    body: JSON.stringify(publishDocument("left", "1.0.0")),
  });
  assert.equal(status, 201);
}

const POLICY = { ecosystem: "ECOSYSTEM_JAVASCRIPT", mode: "POLICY_MODE_ENFORCE", blockedPurls: ["pkg:npm/left"] };

test("what was noted is written when a server stops, and an export has it with the policy", async (t) => {
  const origin = await startInstallation(t);
  const { uid: organization } = origin.bootstrap.organization;
  await publish(origin, "acme");
  await origin.api("POST", `${POLICIES}/${organization}`, POLICY);
  assert.equal(await askFor(origin, "acme"), 403);
  const policies = await policiesOf(origin);
  await origin.close();
  const out = join(temporaryFolder(t), "out");
  await exportInstallation(origin.config, out, SILENT);
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
  await importInstallation(config, out, SILENT);
  const there = await startInstallation(t, {}, dataDir);
  assert.deepEqual(await policiesOf(there), policies);
  const [block] = await blocksOf(there);
  assert.deepEqual([block?.version, block?.count], ["1.0.0", 1]);
  assert.equal(await askFor(there, "acme"), 403);
  await there.close();

  const check = (repair: boolean): Promise<string[]> => foundBy(config, { repair });
  assert.deepEqual(await check(false), []);
  const { db, close } = await openTestStore(dataDir);
  t.after(close);
  const gone = "0".repeat(40);
  for (const table of ["artifact_policies", "artifact_blocks"] as const)
    await db
      .updateTable(table)
      .set({ uid: `${gone}/0000000000000000`, parent: gone })
      .execute();
  assert.deepEqual(await check(false), ["artifact-policy-without-group 1", "artifact-block-without-group 1"]);
  assert.ok((await check(true)).every((found) => found.endsWith(" 0")));
  assert.deepEqual(await check(false), []);
});

test("the list of what was blocked in a group goes with the group, its policy must go before", async (t) => {
  const installation = await startInstallation(t);
  const { api } = installation;
  const { uid: organization } = installation.bootstrap.organization;
  const { uid: group } = await api<{ uid: string }>("POST", `/iam/v2/groups/${organization}`, { name: "team" });
  await publish(installation, "acme/team");
  const { uid: policy } = await api<{ uid: string }>("POST", `${POLICIES}/${group}`, POLICY);
  assert.equal(await askFor(installation, "acme/team"), 403);
  await eventually(async () => (await blocksOf(installation)).length > 0);
  await assert.rejects(api("DELETE", `/iam/v2/groups/${group}`), /policies of libraries: 1/);
  await api("DELETE", `${POLICIES}/${policy}`);
  const headers = { authorization: `Bearer ${installation.registry}` };
  const left = `${installation.url}/npm/acme/team/left`;
  const { _rev: rev } = (await (await fetch(left, { headers })).json()) as { _rev: string };
  assert.equal((await fetch(`${left}/-rev/${rev}`, { method: "DELETE", headers })).status, 200);
  await api("DELETE", `/iam/v2/groups/${group}`);
  assert.deepEqual(await blocksOf(installation), []);
});
