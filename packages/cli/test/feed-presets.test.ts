import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { type FeedServer, startFeedServer } from "../../server/test/support/feed-server.ts";
import { zipOf } from "../../server/test/support/zip.ts";
import { LAUNCHER, moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";
import { noTerminal, onTerminal } from "./terminal.ts";

const record = (id: string, ...affected: object[]): { name: string; content: string } => ({
  name: `${id}.json`,
  content: JSON.stringify({ id, modified: "2026-11-01T08:00:00Z", affected }),
});
const of = (ecosystem: string, fixed: string): object => ({
  package: { ecosystem, name: "app" },
  ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }] }],
});

/** A server that publishes feeds under the paths that the presets have, and an installation that fetches from it. */
async function stage(t: TestContext): Promise<{
  source: FeedServer;
  cwd: string;
  env: Record<string, string>;
  feeds: (...args: string[]) => ReturnType<typeof moorage>;
}> {
  const source = await startFeedServer(t);
  const npm = [
    record("A-1", of("npm", "1.0.0")),
    record("A-2", of("Unheard Of", "1.0.0")),
    record("A-3", of("npm", "one point two")),
    record("A-4", of("npm", "1.0.0"), of("Unheard Of", "1.0.0")),
    { name: "A-5.json", content: "{" },
  ];
  const debian = [record("D-1", of("Debian:12", "1.0-1")), record("D-2", of("Debian:13", "1.0-1"))];
  source.pages.set("/npm/all.zip", { content: zipOf(npm) });
  source.pages.set("/Debian/all.zip", { content: zipOf(debian) });
  source.pages.set("/sites/default/files/feeds/known_exploited_vulnerabilities.json", {
    content: JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-01" }] }),
  });
  source.pages.set("/scores.csv.gz", { content: gzipSync("#v\ncve,epss,percentile\nCVE-2026-1,0.5,0.9\n") });
  const cwd = temporaryFolder(t);
  const env = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_FEEDS_MIRROR: source.url };
  await serveHere(t, cwd, env);
  return { source, cwd, env, feeds: (...args) => moorage(["feeds", ...args], { cwd, env }) };
}

test("presets are fetched once somebody has said so, and say what they cover", async (t) => {
  const { source, cwd, env, feeds } = await stage(t);
  const refused = await feeds("add", "osv", "npm", "kev");
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(
    refused.stderr,
    /^moorage: Adds osv-npm, kev, and fetches from 127\.0\.0\.1:\d+ .*nobody is there to ask/,
  );
  assert.match(refused.stderr, /add --yes/);
  assert.match(
    refused.stdout,
    /^osv-npm: npm, by OSV\n {2}covers: packages of npm\n {2}from: http:.*\/npm\/all\.zip, every 6h\n/,
  );
  assert.match(refused.stdout, /^ {2}license: CC0-1\.0$/m);
  const unknown = await feeds("add", "kevv", "--yes");
  assert.match(unknown.stderr, /^moorage: there is no preset kevv: there are osv, osv-npm, .*kev, epss, endoflife; /);
  if (noTerminal === undefined) {
    const terminal = await onTerminal(t, [LAUNCHER, "feeds", "add", "kev"], { cwd, env });
    await terminal.shows(/Go on\? \[y\/N\]/);
    terminal.type("n\r");
    assert.equal(await terminal.exit(), 0);
  }
  assert.deepEqual(source.asked, []);
  assert.equal((await feeds("list")).stdout, "no feeds\n");

  const added = await feeds("add", "osv", "npm", "debian", "kev", "--yes");
  assert.equal(added.code, 0, added.stderr);
  const [, did = ""] = added.stdout.split("added osv-npm, debian, kev\n");
  const next = / {2}next update: \d{4}-\d\d-\d\dT\S+Z, then every (?:6|12)h/;
  assert.deepEqual(
    did
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(next, "  next")),
    [
      "osv-npm: 4 records read, 4 new or changed, 0 removed, 1 not read, 2 read that match nothing, or in part",
      "  covers: npm; not matched: Unheard Of (2)",
      "  next",
      "debian: 2 records read, 2 new or changed, 0 removed, 0 not read",
      "  covers: debian 12, 13",
      "  next",
      "kev: 1 record read, 1 new or changed, 0 removed, 0 not read",
      "  covers: which CVEs are known to be exploited",
      "  next",
    ],
  );
  assert.equal(source.asked.length, 3);
  const problems = (await feeds("list", "--problems")).stdout.trimEnd().split("\n");
  assert.match(problems.shift() ?? "", /^osv-npm: A-5\.json: is not JSON/);
  assert.deepEqual(problems, [
    "osv-npm: A-2: packages of Unheard Of are not matched",
    "osv-npm: A-3: a range of npm/app has a version that cannot be read: all that may lie in it counts as affected",
  ]);

  const again = await feeds("add", "kev", "epss", "--yes", "--address", `${source.url}/scores.csv.gz`);
  assert.match(again.stderr, /^moorage: an address is that of one feed, and these are 2\n/);
  const own = await feeds("add", "epss", "--yes", "--address", `${source.url}/scores.csv.gz`);
  assert.equal(own.code, 0, own.stderr);
  const there = await feeds("add", "kev", "--yes");
  assert.deepEqual([there.code, there.stdout], [0, "kev: is there already\n"]);
  const listed = JSON.parse((await feeds("list", "--json")).stdout) as Record<string, unknown>[];
  assert.deepEqual(
    listed.map(({ name, format, interval, records, unmatched }) => [name, format, interval, records, unmatched]),
    [
      ["debian", "osv", "21600s", 2, 0],
      ["epss", "epss", "86400s", 1, 0],
      ["kev", "kev", "43200s", 1, 0],
      ["osv-npm", "osv", "21600s", 4, 2],
    ],
  );
});
