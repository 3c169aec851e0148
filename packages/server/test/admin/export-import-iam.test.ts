import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exportInstallation, importInstallation, loadConfig } from "../../src/index.ts";
import { SILENT } from "../../src/admin/progress.ts";
import { databaseEnv, dropDatabase } from "../support/database.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";

// Invites, acceptances and associations belong to the installation and stay valid after an import elsewhere.
async function place(t: TestContext, env: Record<string, string>) {
  const dataDir = temporaryFolder(t);
  const settings = { ...env, ...(await databaseEnv(dataDir)) };
  t.after(() => dropDatabase(dataDir));
  return { dataDir, env: settings, config: loadConfig({ MOORAGE_DATA_DIR: dataDir, ...settings }) };
}

test(
  "invites, acceptances of terms and account associations are exported and imported",
  { timeout: 300_000 },
  async (t) => {
    const file = join(temporaryFolder(t), "terms.json");
    writeFileSync(
      file,
      JSON.stringify([
        { id: "terms", label: "Terms", url: "https://moorage.example.com/terms", required: ["CreateRepo"] },
      ]),
    );
    const [here, there] = [await place(t, { MOORAGE_TERMS_FILE: file }), await place(t, { MOORAGE_TERMS_FILE: file })];
    const first = await startInstallation(t, here.env, here.dataDir);
    const organization = first.bootstrap.organization.uid;
    const roleUid = await first.roleUid("viewer");
    const invite = async (): Promise<{ uid: string; code: string }> => {
      const { text } = await first.ask("POST", `/iam/v2/groupInvites/${organization}`, {
        token: first.platform,
        json: { roleUid, ttl: "3600s" },
      });
      return JSON.parse(text) as { uid: string; code: string };
    };
    const [open, used, revoked] = [await invite(), await invite(), await invite()];
    const { uid: ann } = await first.api("POST", `/iam/v2/identities/${organization}`, { name: "ann" });
    const { uid: bob } = await first.api("POST", `/iam/v2/identities/${organization}`, { name: "bob" });
    const accept = async (server: typeof first, identity: string, { code }: { code: string }) =>
      server.ask("POST", "/iam/v2/groupInvites:accept", {
        token: await server.tokenFor("platform", identity),
        json: { code },
      });
    const binding = await accept(first, ann, used);
    assert.equal(binding.status, 200, binding.text);
    await first.api("DELETE", `/iam/v2/groupInvites/${revoked.uid}`);
    await first.api("POST", `/iam/v2/terms/${organization}`, { documentIds: ["terms"] });
    const github = { appInstallations: { "1": { installations: [{ installationId: "9007199254740993" }] } } };
    const association = { name: "cloud", amazon: { account: "123456789012" }, github };
    await first.api("POST", `/iam/v2/accountAssociations/${organization}`, association);
    const paths = [
      `/iam/v2/groupInvites/${open.uid}`,
      `/iam/v2/terms/${organization}`,
      `/iam/v2/accountAssociations/${organization}`,
    ];
    const before = await Promise.all(paths.map((path) => first.api("GET", path)));
    await first.close();

    const out = temporaryFolder(t);
    await exportInstallation(here.config, out, SILENT);
    await importInstallation(there.config, out, SILENT);
    const second = await startInstallation(t, there.env, there.dataDir);
    assert.deepEqual(await Promise.all(paths.map((path) => second.api("GET", path))), before);
    assert.equal((await accept(second, ann, used)).text, binding.text, "who accepted before is known");
    assert.equal((await accept(second, bob, open)).status, 200);
    assert.match((await accept(second, bob, revoked)).text, /INVITE_REVOKED/);
    await second.api("POST", `/registry/v2/repos/${organization}`, { name: "app" });
  },
);
