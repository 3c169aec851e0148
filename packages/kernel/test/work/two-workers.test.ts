import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig, readBootstrap, signToken } from "../../../server/src/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { openFeedInstallation, OSV_FEED } from "../../../server/test/support/feed-installation.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startProcess } from "../../../server/test/support/processes.ts";

// Two workers, of which each looks for work by itself once an hour: the one that takes a push works on it.

test("images pushed to two workers have their findings, and these are emitted", { timeout: 300_000 }, async (t) => {
  const installation = await openFeedInstallation(t, {
    MOORAGE_WORKERS: "2",
    MOORAGE_CATALOG_IMAGES: "1",
    MOORAGE_WORK_POLL: "1h",
  });
  const { env, db } = installation;
  await installation.admin((feeds) => feeds.add(OSV_FEED));
  const names = Array.from({ length: 4 }, (_, n) => `package-${n}`);
  await installation.importOsv(
    "osv",
    names.map((name) => ({ id: `OSV-${name}`, ...affectedBefore(name, "2.0.0") })),
  );
  const { url } = await startProcess(t, { ...env, MOORAGE_LOG_FORMAT: "json" });
  const { token } = await signToken({ config: loadConfig(env), audience: "registry", ttlMs: 600_000 });
  const place = { url, token, name: `${readBootstrap(env["MOORAGE_DATA_DIR"] ?? "").organization.name}/app` };
  const emitted = async (): Promise<string[]> => {
    const rows = await db
      .selectFrom("events")
      .select("body")
      .where("type", "=", "vulnerabilities.finding.opened.v1")
      .execute();
    return rows.flatMap(({ body }) => (JSON.parse(body) as { vulnerabilities: string[] }).vulnerabilities).toSorted();
  };
  // One by one, and each over a connection of its own, so that both workers get some.
  for (const [n, name] of names.entries()) {
    await pushLayers(place, name, [tarOf([npmFile("app", name, "1.0.0")])]);
    await eventually(async () => (await emitted()).length === n + 1);
  }
  assert.deepEqual(
    await emitted(),
    names.map((name) => `OSV-${name}`),
  );
});
