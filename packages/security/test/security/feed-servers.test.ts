import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { loadConfig, startServer, withFeeds } from "../../../server/src/index.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { fileOf } from "../../../server/test/support/feed-files.ts";
import { startFeedServer } from "../../../server/test/support/feed-server.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const TIMEOUT = { timeout: 300_000 };
const KEV = JSON.stringify({ vulnerabilities: [{ cveID: "CVE-1", dateAdded: "2026-01-01" }, { cveID: "CVE-2" }] });

/** The value of a metric of the feed `kev`; undefined until there is one. */
async function metric(url: string, name: string): Promise<number | undefined> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = new RegExp(`^moorage_vulnerability_feed_${name}\\{feed="kev"\\} (\\S+)$`, "m").exec(text);
  return found === null ? undefined : Number(found[1]);
}

test("a server fetches the feeds of the file by itself, and its metrics have their state", TIMEOUT, async (t) => {
  const source = await startFeedServer(t);
  source.pages.set("/kev.json", { content: KEV });
  const entry = { name: "kev", format: "kev", licence: "CC0-1.0", address: `${source.url}/kev.json` };
  const file = fileOf(t, "feeds.json", JSON.stringify([entry]));
  const server = await startInstallation(t, { MOORAGE_FEEDS_FILE: file, MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  await eventually(async () => (await metric(server.url, "records")) === 1);
  assert.equal(await metric(server.url, "problems"), 1);
  assert.equal(await metric(server.url, "failing"), 0);
  assert.ok(((await metric(server.url, "age_seconds")) ?? Infinity) < 120);
  assert.ok(((await metric(server.url, "import_duration_seconds")) ?? -1) >= 0);
  // It is not due again for hours.
  assert.equal(source.asked.length, 1);
});

test("a server without feeds requests nothing, and one with a wrong file does not start", TIMEOUT, async (t) => {
  const file = fileOf(t, "feeds.yaml", "- name: kev\n  format: kev\n");
  const env = { MOORAGE_DATA_DIR: temporaryFolder(t), MOORAGE_PORT: "0", MOORAGE_FEEDS_FILE: file };
  await assert.rejects(startServer(loadConfig(env)), {
    message: `MOORAGE_FEEDS_FILE: ${file}: feed 1 (kev): licence: must be one line of at most 500 characters, such as CC-BY-4.0`,
  });
  writeFileSync(file, "[]");
  const server = await startInstallation(t, { MOORAGE_FEEDS_FILE: file });
  assert.equal(await metric(server.url, "records"), undefined);
});

test("of several replicas one fetches a feed, and all have it", TIMEOUT, async (t) => {
  if (ENGINE !== "postgres") return t.skip("replicas need PostgreSQL: npm test runs this on it");
  const source = await startFeedServer(t);
  source.pages.set("/kev.json", { content: KEV });
  const entry = { name: "kev", format: "kev", licence: "CC0-1.0", address: `${source.url}/kev.json` };
  const file = fileOf(t, "feeds.json", JSON.stringify([entry]));
  const { servers, env } = await startReplicas(t, 2, { MOORAGE_FEEDS_FILE: file, MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  for (const { port } of servers)
    await eventually(async () => (await metric(`http://127.0.0.1:${port}`, "records")) === 1);
  // Longer than both take to look for feeds that are due.
  await wait(12_000);
  assert.equal(source.asked.length, 1);
  const feeds = await withFeeds(loadConfig(env), (admin) => admin.list());
  assert.deepEqual(
    feeds.map(({ name, records, origin }) => [name, records, origin]),
    [["kev", 1, "file"]],
  );
});
