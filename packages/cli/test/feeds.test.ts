import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { zipOf } from "../../server/test/support/zip.ts";
import { moorage, temporaryFolder } from "./commands.ts";
import { serveHere } from "./server-here.ts";

const RECORD = {
  id: "ACME-2026-1",
  modified: "2026-11-01T08:00:00Z",
  affected: [{ package: { ecosystem: "npm", name: "app" }, versions: ["1.0.0"] }],
};

/** A folder with the data of a server that runs. */
async function installation(t: TestContext): Promise<string> {
  const cwd = temporaryFolder(t);
  await serveHere(t, cwd);
  return cwd;
}

test("feeds are added, imported and listed while a server runs, as JSON in the API's form", async (t) => {
  const cwd = await installation(t);
  mkdirSync(join(cwd, "records"));
  writeFileSync(join(cwd, "records", "one.json"), JSON.stringify(RECORD));
  const feeds = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moorage(["feeds", ...args], { cwd });
    assert.equal(code, 0, stderr);
    return stdout.trimEnd();
  };
  assert.equal(await feeds("list"), "no feeds");
  assert.equal(await feeds("add", "notes", "--format", "osv", "--licence", "CC-BY-4.0"), "added notes");
  assert.equal(
    await feeds("import", "records", "--feed", "notes"),
    "notes: 1 record read, 1 new or changed, 0 removed, 0 not read",
  );
  const [feed, ...others] = JSON.parse(await feeds("list", "--json")) as Record<string, unknown>[];
  assert.deepEqual(others, []);
  const { createTime, attemptTime, successTime, ...rest } = feed ?? {};
  for (const time of [createTime, attemptTime, successTime]) assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.deepEqual(rest, {
    name: "notes",
    format: "osv",
    licence: "CC-BY-4.0",
    address: "",
    interval: "21600s",
    products: [],
    origin: "command",
    records: 1,
    withdrawn: 0,
    problems: 0,
    statements: 0,
    statementsUnmatched: 0,
    unmatched: 0,
    coverage: [{ space: "npm", records: 1, isMatched: true }],
    newestRecordTime: "2026-11-01T08:00:00.000Z",
    isOverdue: false,
    error: "",
  });
});

test("a file is imported without a feed: its format is recognized, and the feed has its name", async (t) => {
  const cwd = await installation(t);
  const feeds = async (...args: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await moorage(["feeds", ...args], { cwd });
    assert.equal(code, 0, stderr);
    return stdout.trimEnd().split("\n");
  };
  writeFileSync(join(cwd, "osv-pypi.zip"), zipOf([{ name: "A-1.json", content: JSON.stringify(RECORD) }]));
  const read = "1 record read, 1 new or changed, 0 removed, 0 not read";
  assert.deepEqual(await feeds("import", "osv-pypi.zip"), [
    "osv-pypi.zip has the format osv: added the feed osv-pypi, license: not stated",
    `osv-pypi: ${read}`,
  ]);
  assert.deepEqual(await feeds("import", "osv-pypi.zip", "--licence", "CC-BY-4.0"), [
    "osv-pypi: 1 record read, 0 new or changed, 0 removed, 0 not read",
  ]);
  const others: [name: string, content: string, format: string, feed: string][] = [
    ["kev.json", JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-01" }] }), "kev", "kev"],
    ["epss_scores-2026-11-01.csv", "#v\ncve,epss,percentile\nCVE-2026-1,0.5,0.9\n", "epss", "epss_scores"],
    [
      "main.json",
      JSON.stringify({
        distroversion: "v3.20",
        reponame: "main",
        packages: [{ pkg: { name: "a", secfixes: { 1: ["CVE-2026-1"] } } }],
      }),
      "alpine-secdb",
      "main",
    ],
    [
      "tracker.json",
      JSON.stringify({ a: { "CVE-2026-1": { releases: { bookworm: { status: "open" } } } } }),
      "debian-tracker",
      "tracker",
    ],
    ["products.json", JSON.stringify({ result: [{ name: "a", releases: [{ name: "1" }] }] }), "endoflife", "products"],
  ];
  for (const [name, content, format, feed] of others) {
    writeFileSync(join(cwd, name), content);
    assert.deepEqual(await feeds("import", name), [
      `${name} has the format ${format}: added the feed ${feed}, license: not stated`,
      `${feed}: ${read}`,
    ]);
  }
  const vex = {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://a.example/1",
    timestamp: "2026-01-01T00:00:00Z",
    statements: [],
  };
  writeFileSync(join(cwd, "vex.json"), JSON.stringify(vex));
  assert.deepEqual(await feeds("import", "vex.json", "--feed", "ours", "--licence", "CC0-1.0"), [
    "vex.json has the format openvex: added the feed ours, license: CC0-1.0",
    `ours: ${read}`,
  ]);
  const listed = (await feeds("list")).filter((line) => line.startsWith("  license:") || !line.startsWith(" "));
  assert.deepEqual(listed.slice(-8), [
    "osv-pypi (osv): 1 record, 0 of them withdrawn, 0 not read",
    "  license: CC-BY-4.0",
    "ours (openvex): 1 record, 0 of them withdrawn, 0 not read",
    "  license: CC0-1.0",
    "products (endoflife): 1 record, 0 of them withdrawn, 0 not read",
    "  license: not stated",
    "tracker (debian-tracker): 1 record, 0 of them withdrawn, 0 not read",
    "  license: not stated",
  ]);
  writeFileSync(
    join(cwd, "osv-pypi.json"),
    JSON.stringify({ vulnerabilities: [{ cveID: "CVE-2026-1", dateAdded: "2026-01-01" }] }),
  );
  const { code, stderr } = await moorage(["feeds", "import", "osv-pypi.json"], { cwd });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^moorage: the feed osv-pypi has the format osv, and .*osv-pypi\.json has kev: name it with --feed\n$/,
  );
});

test("what is wrong with a feed is said in one line that names it, and nothing is added", async (t) => {
  const cwd = await installation(t);
  writeFileSync(join(cwd, "sbom.json"), JSON.stringify({ bomFormat: "CycloneDX", components: [] }));
  writeFileSync(join(cwd, "one.json"), JSON.stringify(RECORD));
  writeFileSync(join(cwd, "broken.json"), JSON.stringify({ vulnerabilities: [{ cveID: 1 }] }));
  for (const [args, complaint] of [
    [["add", "a", "--format", "foo", "--licence", "CC0-1.0"], /^moorage: format: must be one of osv, /],
    [["add", "a", "--format", "osv", "--licence", "CC-BY-ND-4.0"], /^moorage: licence: does not allow derivatives/],
    [["add", "a/b", "--format", "osv", "--licence", "CC0-1.0"], /^moorage: name: /],
    [["import", "nowhere.zip", "--feed", "a"], /^moorage: .*nowhere\.zip cannot be opened/],
    [["import", "sbom.json"], /^moorage: sbom\.json is neither an export of feeds nor of a format that feeds have: /],
    [["import", "one.json"], /^moorage: .*one\.json is one record or document: name the feed .* with --feed/],
    [["import", "one.json", "--feed", "a b"], /^moorage: name: /],
    [["import", "broken.json"], /^moorage: .*vulnerabilities\[0\]\.cveID: must be a text/],
  ] as const) {
    const { code, stderr } = await moorage(["feeds", ...args], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, complaint);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  }
  assert.equal((await moorage(["feeds", "list"], { cwd })).stdout, "no feeds\n");
});
