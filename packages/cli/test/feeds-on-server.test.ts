// `moorage feeds` for a server elsewhere: over its API, without its data folder.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type FeedServer, startFeedServer } from "../../server/test/support/feed-server.ts";
import { zipOf } from "../../server/test/support/zip.ts";
import { LAUNCHER, moorage, type Outcome, temporaryFolder } from "./commands.ts";
import { openQuick } from "./quick.ts";
import { noTerminal, onTerminal } from "./terminal.ts";

const KEV = "/sites/default/files/feeds/known_exploited_vulnerabilities.json";

interface Laptop {
  source: FeedServer;
  url: string;
  cwd: string;
  env: Record<string, string>;
  /** Runs `moorage feeds` in an empty folder, with a token for the server. */
  feeds(...args: string[]): Promise<Outcome>;
  run(args: string[], env?: Record<string, string>): Promise<Outcome>;
  /** Runs `moorage feeds` in the server's folder. */
  atHome(args: string[], env?: Record<string, string>): Promise<Outcome>;
  tokenOf(identity: string): Promise<string>;
}

async function stage(t: TestContext): Promise<Laptop> {
  const source = await startFeedServer(t);
  const record = (id: string, ecosystem: string): { name: string; content: string } => ({
    name: `${id}.json`,
    content: JSON.stringify({
      id,
      modified: "2026-11-01T08:00:00Z",
      affected: [{ package: { ecosystem, name: "app" }, versions: ["1.0.0"] }],
    }),
  });
  source.pages.set("/npm/all.zip", {
    content: zipOf([record("A-1", "npm"), record("A-2", "Unheard Of"), { name: "A-3.json", content: "{" }]),
  });
  source.pages.set(KEV, { status: 503 });
  const quick = await openQuick(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_FEEDS_MIRROR: source.url });
  const cwd = join(temporaryFolder(t), "elsewhere");
  mkdirSync(cwd);
  const env = { ...quick.env, XDG_CONFIG_HOME: join(cwd, "config") };
  const run: Laptop["run"] = (args, extra = {}) => moorage(args, { cwd, env: { ...env, ...extra } });
  return {
    source,
    url: quick.url,
    cwd,
    env,
    run,
    feeds: (...args) => run(["feeds", ...args]),
    atHome: (args, extra = {}) => quick.run(["feeds", ...args], extra),
    tokenOf: async (identity) => (await quick.ok("token", "--identity", identity)).trim(),
  };
}

test("feeds of a server are added once somebody has said yes, listed, fetched and removed without its folder", async (t) => {
  const { source, cwd, env, feeds, atHome, url } = await stage(t);
  assert.deepEqual(await feeds("list"), { code: 0, stdout: "no feeds\n", stderr: "" });
  const refused = await feeds("add", "osv", "npm", "kev");
  assert.equal(refused.code, 2, refused.stderr);
  assert.match(refused.stderr, /^moorage: Adds osv-npm, kev, and fetches from 127\.0\.0\.1:\d+ .*nobody is there/);
  assert.match(
    refused.stdout,
    /^osv-npm: npm, by OSV\n {2}covers: packages of npm\n {2}from: http:.*\/npm\/all\.zip, every 6h\n {2}license: CC-BY/,
  );
  if (noTerminal === undefined) {
    const terminal = await onTerminal(t, [LAUNCHER, "feeds", "add", "kev"], { cwd, env });
    await terminal.shows(/Go on\? \[y\/N\]/);
    terminal.type("n\r");
    assert.equal(await terminal.exit(), 0);
  }
  assert.match(
    (await feeds("add", "kevv", "--yes")).stderr,
    /^moorage: there is no preset kevv: there are osv, osv-npm/,
  );
  assert.deepEqual(source.asked, []);
  assert.equal((await feeds("list")).stdout, "no feeds\n");

  const added = await feeds("add", "osv", "npm", "kev", "--yes");
  assert.equal(added.code, 1, "KEV cannot be fetched");
  assert.match(added.stderr, /^the server fetches osv-npm, kev …\nmoorage: kev: .*503.*\n$/);
  const [, did = ""] = added.stdout.split("added osv-npm, kev\n");
  const lines = did.trimEnd().split("\n");
  const at = lines.findIndex((line) => line.startsWith("osv-npm:"));
  assert.deepEqual(lines.slice(at, at + 2), [
    "osv-npm: 2 records, 1 not read, 1 match nothing, or in part",
    "  covers: npm; not matched: Unheard Of (1)",
  ]);
  assert.match(lines[at + 2] ?? "", /^ {2}next update: \S+, then every 6h$/);

  // What the command on the machine itself says of the same feeds is the same.
  const elsewhere = (await feeds("list")).stdout;
  assert.match(elsewhere, /^kev \(kev\): 0 records/);
  assert.equal((await atHome(["list"])).stdout, elsewhere);
  assert.equal((await atHome(["list"], { MOORAGE_URL: url })).stdout, elsewhere);
  const problems = (await feeds("list", "--problems")).stdout;
  assert.match(problems, /^osv-npm: A-3\.json: is not JSON.*\nosv-npm: A-2: packages of Unheard Of are not matched\n$/);
  assert.equal((await atHome(["list", "--problems"])).stdout, problems);
  const json = (output: string): object[] =>
    (JSON.parse(output) as object[]).map((feed) => ({ ...feed, newestRecordTime: undefined }));
  assert.deepEqual(
    json((await feeds("list", "--json")).stdout),
    json((await atHome(["list", "--json"])).stdout),
    "but for what the API does not answer",
  );

  // The failure of before is not taken for that of this fetch.
  source.pages.set(KEV, {
    content: JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-01" }] }),
  });
  const refreshed = await feeds("refresh", "kev");
  assert.deepEqual([refreshed.code, refreshed.stdout], [0, "kev: 1 record, 0 not read\n"], refreshed.stderr);
  assert.equal((await feeds("update", "nothing")).code, 3);
  const shrink = await feeds("update", "--allow-shrink");
  assert.deepEqual(
    [shrink.code, shrink.stderr.includes("--allow-shrink: is for an installation of this machine")],
    [2, true],
  );

  assert.deepEqual(await feeds("remove", "osv-npm"), {
    code: 0,
    stdout: "removed osv-npm with 2 records\n",
    stderr: "",
  });
  assert.deepEqual(JSON.parse((await feeds("list", "-o", "json")).stdout).feeds.length, 1);
});

test("a feed of one's own is added to a server, by operations create-feed as well, and by nobody without the right", async (t) => {
  const { source, feeds, run, tokenOf } = await stage(t);
  const own = ["add", "notes", "--format", "osv", "--licence", "MIT", "--covers", "npm"];
  const address = ["--address", `${source.url}/npm/all.zip`, "--interval", "1d"];
  const refused = await feeds(...own, ...address);
  assert.deepEqual([refused.code, source.asked], [2, []]);
  assert.match(refused.stdout, /^notes\n {2}from: http:.*\/npm\/all\.zip, every 1d\n {2}license: MIT\n$/);
  const added = await feeds(...own, ...address, "--yes");
  assert.deepEqual(
    [added.code, added.stdout.includes("added notes\nnotes: 2 records, 1 not read")],
    [0, true],
    added.stderr,
  );
  const imported = await feeds("add", "files", "--format", "osv", "--licence", "MIT");
  assert.deepEqual([imported.code, imported.stdout], [0, "added files\n"], imported.stderr);
  assert.equal((await feeds(...own)).code, 6, "it is there already");

  const preset = ["operations", "create-feed", "--preset", "osv-npm"];
  const unaccepted = await run([...preset]);
  assert.equal(unaccepted.code, 6);
  assert.match(unaccepted.stderr, /set accept_licence/);
  const accepted = await run([...preset, "--accept-licence", "--jq", ".licence"]);
  assert.deepEqual([accepted.code, accepted.stdout.startsWith("CC-BY-4.0")], [0, true], accepted.stderr);
  const moved = ["operations", "update-feed", "notes", "--licence", "CC0-1.0"];
  assert.equal((await run(moved)).code, 6);
  assert.equal((await run([...moved, "--accept-licence"])).code, 0);

  const uid = JSON.parse((await run(["api", "/iam/v2/groups", "-q", "name=acme"])).stdout).groups[0].uid as string;
  const body = JSON.stringify({ parent: uid, identity: { name: "guest" } });
  const { stdout } = await run(["call", "IdentitiesService/CreateIdentity", body]);
  const identity = (JSON.parse(stdout) as { uid: string }).uid;
  const guest = { MOORAGE_TOKEN: await tokenOf(identity) };
  for (const args of [["list"], ["add", "kev", "--yes"], ["remove", "notes"], ["update", "notes"]]) {
    const { code, stderr } = await run(["feeds", ...args], guest);
    assert.deepEqual(
      [code, stderr.startsWith("moorage: PERMISSION_DENIED: ")],
      [5, true],
      `${args.join(" ")}: ${stderr}`,
    );
  }
});
