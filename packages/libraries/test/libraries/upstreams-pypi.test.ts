// Python projects that come from an upstream: listed, fetched once, kept, and served when the upstream is gone.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { newPolicy } from "../../../server/test/support/policies.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { sdistOf, uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";
import { type PythonIndex, startPythonIndex } from "../../../server/test/support/python-index.ts";

let platform: Platform;
let index: PythonIndex;
let group = { uid: "", path: "" };
let count = 0;
before(async () => {
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_UPSTREAM_TIMEOUT: "2s",
    MOORAGE_UPSTREAM_FILE_TIMEOUT: "2s",
    MOORAGE_UPSTREAM_MAX_DOCUMENT_BYTES: "1000000",
  });
});
after(() => platform.close());
beforeEach(async (t) => {
  index = await startPythonIndex(t as Parameters<typeof startPythonIndex>[0]);
  const name = `python-${(count += 1)}`;
  group = { uid: (await platform.group(platform.organization, { name })).uid, path: `acme/${name}` };
});

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const DAY_MS = 86_400_000;
const sha256 = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

function setUpstream(fields: object = {}): Promise<{ uid: string }> {
  return platform.ok("POST", `/libraries/v2/upstreams/${group.uid}`, {
    ecosystem: "ECOSYSTEM_PYTHON",
    url: `${index.url}/`,
    ...fields,
  });
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return await platform.call("GET", `/pypi/${group.path}/simple/${path}`, { token: await platform.token(), headers });
}

type File = Record<string, unknown> & { filename: string; hashes: Record<string, string> };
const page = (project: string): Promise<Answer> => get(`${project}/`, { accept: JSON_TYPE });
async function filesOf(project: string): Promise<File[]> {
  const answer = await page(project);
  assert.equal(answer.status, 200, answer.text);
  return answer.body["files"] as File[];
}
const namesOf = async (project: string): Promise<string[]> => (await filesOf(project)).map(({ filename }) => filename);
const later = (ms: number): void => void (platform.clock.offsetMs += ms);

/** The SHA-256 of a file as it is served, or the status instead. */
async function sumOf(project: string, file: string): Promise<string | number> {
  const answer = await fetch(`${platform.url}/pypi/${group.path}/simple/${project}/${encodeURIComponent(file)}`, {
    headers: { authorization: `Bearer ${await platform.token()}` },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return answer.status === 200 ? sha256(bytes) : answer.status;
}

/** What the catalog has of the group. */
function artifacts(): Promise<Record<string, unknown>[]> {
  const query = `ecosystems=ECOSYSTEM_PYTHON&uidp.descendants_of=${group.uid}`;
  return rows(platform.ok("GET", `/libraries/v2/artifacts?${query}`), "artifacts");
}

test("a page is the upstream's with our URLs, and a file comes once, with its metadata and provenance", async () => {
  await setUpstream();
  const wheel = wheelOf({ name: "Left", version: "1.0", lines: ["License-Expression: MIT"], summary: "Turns left" });
  const sdist = sdistOf({ name: "left", version: "0.9" });
  index.publish("left", { ...wheel, requiresPython: ">=3.8", provenance: '{"version": 1}', yanked: "broken" });
  index.publish("left", { ...sdist, uploadTime: "2019-02-03T04:05:06.123456Z" });
  const expected = [
    {
      filename: sdist.filename,
      url: sdist.filename,
      hashes: { sha256: sha256(sdist.bytes) },
      size: sdist.bytes.length,
      "upload-time": "2019-02-03T04:05:06.123Z",
      yanked: false,
      "core-metadata": false,
      provenance: null,
    },
    {
      filename: wheel.filename,
      url: wheel.filename,
      hashes: { sha256: sha256(wheel.bytes) },
      "requires-python": ">=3.8",
      size: wheel.bytes.length,
      "upload-time": "2020-01-01T00:00:00.000Z",
      yanked: "broken",
      "core-metadata": { sha256: sha256(wheel.metadata) },
      provenance: `${wheel.filename}.provenance`,
    },
  ];
  assert.deepEqual(await filesOf("left"), expected);
  const html = (await get("left/")).text;
  assert.ok(html.includes(`href="${wheel.filename}#sha256=${sha256(wheel.bytes)}"`), html);
  assert.ok(!html.includes(index.url.replace("/simple", "")), html);

  const beside = await get(`left/${wheel.filename}.metadata`);
  assert.deepEqual([beside.status, beside.text], [200, wheel.metadata]);
  assert.equal((await artifacts())[0]?.["versionCount"], 0, "metadata alone are no version of the group");
  assert.equal(await sumOf("left", wheel.filename), sha256(wheel.bytes));
  assert.equal(await sumOf("left", sdist.filename), sha256(sdist.bytes));
  const provenance = await get(`left/${wheel.filename}.provenance`);
  assert.deepEqual([provenance.status, provenance.text], [200, '{"version": 1}']);
  assert.equal(provenance.headers["content-type"], "application/vnd.pypi.integrity.v1+json");
  assert.deepEqual(await filesOf("left"), expected, "the page does not depend on what is here");
  for (const file of [wheel.filename, sdist.filename]) {
    assert.equal(await sumOf("left", file), sha256(file === wheel.filename ? wheel.bytes : sdist.bytes));
    assert.equal(index.count(`/files/${file}`), 1);
  }
  const [artifact] = await artifacts();
  assert.deepEqual([artifact?.["name"], artifact?.["versionCount"], artifact?.["latestVersion"]], ["Left", 2, "1.0"]);
  assert.equal(artifact?.["description"], "Turns left");
  assert.equal((await get("left/left-2.0.tar.gz")).status, 404);
  assert.equal((await get(`left/${sdist.filename}.metadata`)).status, 404, "the upstream lists none");
  assert.equal((await get("nothing/")).status, 404);
});

test("when the upstream is gone, its page and what came from it stay, and the rest is 503", async () => {
  const { uid } = await setUpstream();
  const [kept, other] = ["1.0", "2.0"].map((version) => wheelOf({ name: "left", version }));
  assert.ok(kept && other);
  for (const wheel of [kept, other]) index.publish("left", wheel);
  assert.equal(await sumOf("left", kept.filename), sha256(kept.bytes));
  assert.equal((await get(`left/${kept.filename}.metadata`)).status, 200);
  const yanked = sdistOf({ name: "yanked", version: "0.1" });
  index.publish("yanked", { ...yanked, yanked: "broken" });
  assert.equal(await sumOf("yanked", yanked.filename), sha256(yanked.bytes));
  const before = await filesOf("left");
  await index.stop();
  later(3_600_000);
  assert.deepEqual(await filesOf("left"), before);
  assert.equal(await sumOf("left", kept.filename), sha256(kept.bytes));
  const answer = await get(`left/${other.filename}`);
  assert.equal(answer.status, 503, answer.text);
  assert.ok(answer.headers["retry-after"], "clients repeat it");
  assert.equal((await page("never-asked")).status, 503);

  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { disabled: true });
  assert.deepEqual(await namesOf("left"), [kept.filename], "disabled: what is here");
  assert.deepEqual((await filesOf("yanked"))[0]?.["yanked"], "broken", "as its upstream said last");
  await platform.ok("DELETE", `/libraries/v2/upstreams/${uid}`);
  const [file] = await filesOf("left");
  assert.deepEqual(
    [file?.filename, file?.["core-metadata"], file?.["upload-time"]],
    [kept.filename, { sha256: sha256(kept.metadata) }, "2020-01-01T00:00:00.000Z"],
  );
  assert.equal(await sumOf("left", kept.filename), sha256(kept.bytes));
});

test("20 clients that want the same at first are served by one fetch of each", async () => {
  await setUpstream();
  const wheel = wheelOf({ name: "left", version: "1.0" });
  index.publish("left", wheel);
  const many = Array.from({ length: 20 });
  assert.deepEqual(new Set(await Promise.all(many.map(async () => (await page("left")).status))), new Set([200]));
  const sums = await Promise.all(many.map(() => sumOf("left", wheel.filename)));
  assert.deepEqual(new Set(sums), new Set([sha256(wheel.bytes)]));
  assert.deepEqual(index.asked, ["/simple/left/", `/files/${wheel.filename}`]);
});

test("a name of the group is never asked for, in any spelling, unless it is merged", async () => {
  const { uid } = await setUpstream({ reservedNames: ["acme-*"] });
  const own = { name: "Acme.Tools_x", version: "1.0" };
  const taken = { name: "Taken__Name", version: "1.0" };
  const uploaded = wheelOf(taken);
  const answer = await uploadPypi(platform, group.path, { ...taken, ...uploaded });
  assert.equal(answer.status, 200, answer.text);
  index.publish("taken-name", { ...wheelOf({ ...taken, code: "evil = True\n" }) });
  index.publish("taken-name", wheelOf({ ...taken, version: "99.0" }));
  index.publish("acme-tools-x", wheelOf(own));
  for (const name of ["taken-name", "Taken_Name", "TAKEN.-.NAME", "acme-tools-x", "ACME_tools.X"]) {
    await page(name);
    await get(`${name}/taken_name-99.0-py3-none-any.whl`);
    await get(`${name}/${wheelOf(own).filename}.metadata`);
  }
  assert.deepEqual(index.asked, []);
  assert.deepEqual(await namesOf("taken-name"), [uploaded.filename]);
  assert.equal((await page("acme-tools-x")).status, 404);

  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { mergedNames: ["taken-name"] });
  index.publish("taken-name", sdistOf({ ...taken, version: "1.0.0" }));
  const files = await filesOf("taken-name");
  assert.deepEqual(
    files.map(({ filename, hashes }) => [filename, hashes["sha256"]]),
    [
      [uploaded.filename, sha256(uploaded.bytes)],
      ["taken_name-99.0-py3-none-any.whl", sha256(wheelOf({ ...taken, version: "99.0" }).bytes)],
    ],
    "a version of the group has none of the upstream's files, in no spelling of its number",
  );
  assert.equal(await sumOf("taken-name", uploaded.filename), sha256(uploaded.bytes));
  assert.equal(await sumOf("taken-name", "taken_name-1.0.0.tar.gz"), 404);
});

test("a version that the group has removed comes from the upstream in no spelling of its number", async () => {
  await setUpstream({ mergedNames: ["left"] });
  const own = { name: "left", version: "1.0" };
  assert.equal((await uploadPypi(platform, group.path, { ...own, ...wheelOf(own) })).status, 200);
  const [same, other] = ["1.0.0", "2.0"].map((version) => wheelOf({ name: "left", version }));
  for (const file of [same, other]) if (file !== undefined) index.publish("left", file);
  assert.deepEqual(await namesOf("left"), [wheelOf(own).filename, other?.filename]);
  const [artifact] = await artifacts();
  const path = `/libraries/v2/artifacts/${encodeURIComponent(String(artifact?.["uid"]))}/versions`;
  const [version] = await rows(platform.ok("GET", path), "artifactVersions");
  await platform.ok("DELETE", `/libraries/v2/artifactVersions/${String(version?.["uid"])}`);
  assert.deepEqual(await namesOf("left"), [other?.filename]);
  assert.equal(await sumOf("left", same?.filename ?? ""), 404);
});

test("a version that is here from the upstream is not published again by the group", async () => {
  await setUpstream();
  const wheel = { name: "left", version: "1.0" };
  const made = wheelOf(wheel);
  index.publish("left", made);
  assert.equal(await sumOf("left", made.filename), sha256(made.bytes));
  const answer = await uploadPypi(platform, group.path, { ...wheel, ...sdistOf(wheel) });
  assert.equal(answer.status, 409, answer.text);
  assert.match(answer.text, /from the upstream/);
});

test("what is not what the index says is 502, and nothing of it stays", async () => {
  await setUpstream();
  const [lied, cut, beside, foreign] = ["1.0", "2.0", "3.0", "4.0"].map((version) =>
    wheelOf({ name: "left", version }),
  );
  assert.ok(lied && cut && beside && foreign);
  index.publish("left", { ...lied, sha256: "0".repeat(64) });
  index.publish("left", { ...cut, sha256: sha256(cut.bytes) });
  index.publish("left", { ...beside, metadataSha256: "1".repeat(64) });
  index.publish("left", { ...foreign, bytes: wheelOf({ name: "right", version: "4.0" }).bytes });
  const renumbered = "left-5.0-py3-none-any.whl";
  index.publish("left", { filename: renumbered, bytes: wheelOf({ name: "left", version: "6.0" }).bytes });
  index.intercept = (req, res) => {
    if (req.url !== `/files/${cut.filename}`) return false;
    res.end(Buffer.concat([cut.bytes, Buffer.from("more")]));
    return true;
  };
  const cases: [string, RegExp][] = [
    [lied.filename, /another sha256/],
    [cut.filename, /bytes/],
    [`${beside.filename}.metadata`, /another sha256/],
    [foreign.filename, /left-…|of right 4\.0/],
    [renumbered, /of left 6\.0/],
  ];
  for (const [file, reason] of cases) {
    const answer = await get(`left/${file}`);
    assert.equal(answer.status, 502, `${file}: ${answer.text}`);
    assert.match(answer.text, reason, file);
  }
  assert.deepEqual(await artifacts(), []);
  assert.equal((await filesOf("left")).length, 5);
});

test("when the upstream changes a file, ours stays, with its sum, and it is still said to be yanked", async () => {
  await setUpstream();
  const first = wheelOf({ name: "left", version: "1.0" });
  index.publish("left", first);
  assert.equal(await sumOf("left", first.filename), sha256(first.bytes));
  index.publish("left", { ...wheelOf({ name: "left", version: "1.0", code: "evil = True\n" }), yanked: "" });
  index.publish("left", wheelOf({ name: "left", version: "1.1" }));
  later(600_000);
  const [file, second] = await filesOf("left");
  assert.deepEqual([file?.hashes, file?.["yanked"]], [{ sha256: sha256(first.bytes) }, true]);
  assert.equal(second?.filename, "left-1.1-py3-none-any.whl");
  assert.equal(await sumOf("left", first.filename), sha256(first.bytes));
  const metrics = (await platform.call("GET", "/metrics")).text;
  assert.match(metrics, /changed.*ecosystem="pypi".* [1-9]/i);
});

test("an answer that is no page of the project is 502 with the reason, and what was kept goes on being served", async () => {
  await setUpstream();
  const answers: [string, Record<string, string>, string, RegExp][] = [
    ["another-project", { "content-type": JSON_TYPE }, '{"name": "other", "files": []}', /another project/],
    ["no-page", { "content-type": "text/plain" }, "hello", /text\/plain/],
    ["no-json", { "content-type": JSON_TYPE }, "<html>", /not JSON/],
    ["version-2", { "content-type": JSON_TYPE }, '{"meta": {"api-version": "2.0"}, "files": []}', /version 2\.0/],
    ["endless", { "content-type": "text/html" }, "x".repeat(1_100_000), /more than 1000000/],
    ["announced", { "content-type": "text/html", "content-length": "100000000" }, "x", /more than 1000000/],
  ];
  index.intercept = (req, res) => {
    const found = answers.find(([name]) => req.url === `/simple/${name}/`);
    if (found === undefined) return false;
    res.writeHead(200, found[1]);
    // One that never ends.
    if (found[0] === "endless") {
      const more = (): void =>
        void (res.destroyed || (res.write(found[2]) ? setImmediate(more) : res.once("drain", more)));
      more();
    } else res.end(found[2]);
    return true;
  };
  for (const [name, , , reason] of answers) {
    const answer = await page(name);
    assert.equal(answer.status, 502, `${name}: ${answer.text}`);
    assert.match(answer.text, reason, name);
    // Each of these counts as a failure of the upstream.
    later(11_000);
  }
  index.publish("left", wheelOf({ name: "left", version: "1.0" }));
  const before = await filesOf("left");
  index.intercept = (_req, res) => {
    res.writeHead(200, { "content-type": JSON_TYPE }).end('{"name": "right", "files": []}');
    return true;
  };
  later(600_000);
  assert.deepEqual(await filesOf("left"), before);
});

test("an upstream that is silent, or never ends a file, is given up after a while", async () => {
  await setUpstream();
  const wheel = wheelOf({ name: "left", version: "1.0" });
  index.publish("left", wheel);
  index.intercept = (req) => req.url === "/simple/silent/";
  assert.equal((await page("silent")).status, 503);
  index.intercept = (req, res) => {
    if (req.url !== `/files/${wheel.filename}`) return false;
    res.writeHead(200).write("PK");
    return true;
  };
  assert.equal((await get(`left/${wheel.filename}`)).status, 503);
  index.intercept = () => false;
  later(11_000);
  assert.equal(await sumOf("left", wheel.filename), sha256(wheel.bytes));
});

test("names that lead elsewhere are asked of nobody", async () => {
  await setUpstream();
  for (const path of [
    "..%2fleft/",
    "%2e%2e/",
    "l%D0%B5ft/",
    "left%0a/",
    "left%00/",
    "-left/",
    "a%20b/",
    `${"a".repeat(200)}/`,
  ])
    assert.equal((await get(path)).status, 404, path);
  for (const path of ["..%2fleft/left-1.0.tar.gz", "%2e%2e/left-1.0.tar.gz", "l%D0%B5ft/left-1.0.tar.gz.metadata"])
    assert.equal((await get(path)).status, 404, path);
  assert.deepEqual(index.asked, []);
  index.publish("left", wheelOf({ name: "left", version: "1.0" }));
  for (const file of ["..%2f..%2fetc%2fpasswd", "left-1.0%00.tar.gz", "..%2fleft-1.0.tar.gz.metadata", ".metadata"])
    assert.equal((await get(`left/${file}`)).status, 404, file);
  assert.deepEqual(index.asked, ["/simple/left/"]);
});

test("files that are too young are in no page, and are 403 by URL, until they open", async () => {
  await setUpstream();
  await newPolicy(platform, group.uid, { ecosystem: "ECOSYSTEM_PYTHON", cooldown: "604800s" });
  const nowMs = platform.clock.nowMs();
  const at = (daysAgo: number): string => new Date(nowMs - daysAgo * DAY_MS).toISOString();
  const [old, young] = ["1.0", "2.0"].map((version) => wheelOf({ name: "left", version }));
  const added = sdistOf({ name: "left", version: "1.0" });
  assert.ok(old && young);
  index.publish("left", { ...old, uploadTime: at(30) });
  index.publish("left", { ...young, uploadTime: at(2), provenance: "{}" });
  index.publish("left", { ...added, uploadTime: at(1) });
  assert.deepEqual(await namesOf("left"), [old.filename], "a file that was added to an old version is young, too");
  assert.deepEqual((await page("left")).body["versions"], ["1.0"]);
  const html = (await get("left/")).text;
  assert.ok(html.includes(old.filename) && !html.includes(young.filename) && !html.includes(added.filename), html);
  const open = new Date(nowMs + 5 * DAY_MS).toISOString().slice(0, 10);
  for (const file of [young.filename, `${young.filename}.metadata`, `${young.filename}.provenance`, added.filename]) {
    const answer = await fetch(`${platform.url}/pypi/${group.path}/simple/left/${file}`, {
      headers: { authorization: `Bearer ${await platform.token()}` },
    });
    assert.equal(answer.status, 403, file);
    assert.match(answer.statusText, /left@.* is too young: it opens at \d{4}-/, "pip shows the reason phrase");
    if (file !== added.filename) assert.ok(answer.statusText.includes(open), answer.statusText);
  }
  assert.equal(index.asked.filter((path) => path.startsWith("/files/")).length, 0, "nothing of them is fetched");
  assert.equal(await sumOf("left", old.filename), sha256(old.bytes));

  index.publish("fresh", { ...wheelOf({ name: "fresh", version: "1.0" }), uploadTime: at(1) });
  const whole = await page("fresh");
  assert.equal(whole.status, 409, whole.text);
  assert.match(whole.text, /every version of fresh is blocked.* opens at/);

  later(5 * DAY_MS + 1_000);
  assert.deepEqual(await namesOf("left"), [old.filename, young.filename]);
  assert.equal(await sumOf("left", young.filename), sha256(young.bytes));
});

test("what was fetched before there was a policy is judged, too, each file by its own time", async () => {
  await setUpstream();
  const at = (daysAgo: number): string => new Date(platform.clock.nowMs() - daysAgo * DAY_MS).toISOString();
  const [old, added] = [wheelOf({ name: "left", version: "1.0" }), sdistOf({ name: "left", version: "1.0" })];
  index.publish("left", { ...old, uploadTime: at(30) });
  index.publish("left", { ...added, uploadTime: at(1) });
  for (const file of [old, added]) assert.equal(await sumOf("left", file.filename), sha256(file.bytes));
  await newPolicy(platform, group.uid, { ecosystem: "ECOSYSTEM_PYTHON", cooldown: "604800s" });
  assert.deepEqual(await namesOf("left"), [old.filename]);
  assert.equal(await sumOf("left", added.filename), 403);
  assert.equal(await sumOf("left", old.filename), sha256(old.bytes));
});

test("a file whose index says no time is as young as it is known here", async () => {
  index.form = "html";
  await setUpstream();
  await newPolicy(platform, group.uid, { ecosystem: "ECOSYSTEM_PYTHON", cooldown: "604800s" });
  const [first, second] = ["1.0", "2.0"].map((version) => wheelOf({ name: "left", version }));
  assert.ok(first && second);
  index.publish("left", first);
  assert.equal((await page("left")).status, 409);
  later(4 * DAY_MS);
  index.publish("left", second);
  assert.equal((await page("left")).status, 409);
  later(4 * DAY_MS);
  assert.deepEqual(await namesOf("left"), [first.filename]);
  assert.equal((await get(`left/${second.filename}`)).status, 403);
  assert.equal(await sumOf("left", first.filename), sha256(first.bytes));
  later(4 * DAY_MS);
  assert.deepEqual(await namesOf("left"), [first.filename, second.filename]);
});

test("in a preview everything is given, and each request is noted once", async () => {
  await setUpstream();
  await newPolicy(platform, group.uid, {
    ecosystem: "ECOSYSTEM_PYTHON",
    mode: "POLICY_MODE_PREVIEW",
    deniedLicenses: ["GPL-*"],
  });
  const [old, young] = ["1.0", "2.0"].map((version) =>
    wheelOf({ name: "left", version, lines: ["License-Expression: GPL-3.0-only"] }),
  );
  assert.ok(old && young);
  index.publish("left", old);
  index.publish("left", { ...young, uploadTime: new Date(platform.clock.nowMs() - DAY_MS).toISOString() });
  assert.deepEqual(await namesOf("left"), [old.filename, young.filename]);
  for (const file of [old, young]) assert.equal(await sumOf("left", file.filename), sha256(file.bytes));
  const noted = async (): Promise<unknown[]> =>
    (await rows(platform.ok("GET", `/libraries/v2/blocks?uidp.children_of=${group.uid}`), "blocks"))
      .map((block) => [block["version"], block["reason"], Number(block["count"])])
      .toSorted();
  const expected = [
    ["1.0", "BLOCK_REASON_LICENSE", 1],
    ["2.0", "BLOCK_REASON_COOLDOWN", 2],
  ];
  await eventually(async () => (await noted()).length >= expected.length, { instead: noted });
  assert.deepEqual(await noted(), expected, "the page, whose latest would be another, and the files");
});

test("rules for package URLs hold for versions of the group and of the upstream", async () => {
  await setUpstream({ mergedNames: ["left"] });
  const own = { name: "left", version: "1.0" };
  assert.equal((await uploadPypi(platform, group.path, { ...own, ...wheelOf(own) })).status, 200);
  const others = ["2.0", "3.0"].map((version) => wheelOf({ name: "left", version }));
  for (const file of others)
    index.publish("left", { ...file, uploadTime: new Date(platform.clock.nowMs()).toISOString() });
  await newPolicy(platform, group.uid, {
    ecosystem: "ECOSYSTEM_PYTHON",
    blockedPurls: ["pkg:pypi/left@1.0"],
    allowedPurls: ["pkg:pypi/left@3.0"],
  });
  assert.deepEqual(await namesOf("left"), [others[1]?.filename]);
  assert.equal(await sumOf("left", wheelOf(own).filename), 403);
  assert.equal(await sumOf("left", others[0]?.filename ?? ""), 403);
  assert.equal(await sumOf("left", others[1]?.filename ?? ""), sha256(others[1]?.bytes ?? ""));
});

test("a license is known with the metadata, and then hides the version", async () => {
  await setUpstream();
  await newPolicy(platform, group.uid, {
    ecosystem: "ECOSYSTEM_PYTHON",
    cooldown: "0s",
    deniedLicenses: ["AGPL-3.0*"],
  });
  const free = wheelOf({ name: "left", version: "1.0", lines: ["License-Expression: MIT"] });
  const denied = wheelOf({ name: "left", version: "2.0", lines: ["License-Expression: AGPL-3.0-only"] });
  const sources = sdistOf({ name: "left", version: "3.0", lines: ["License-Expression: AGPL-3.0-or-later"] });
  for (const file of [free, denied, sources]) index.publish("left", file);
  assert.equal((await filesOf("left")).length, 3);
  for (const file of [`${denied.filename}.metadata`, denied.filename, sources.filename]) {
    const answer = await get(`left/${file}`);
    assert.equal(answer.status, 403, `${file}: ${answer.text}`);
    assert.match(answer.text, /AGPL-3\.0/);
  }
  assert.equal(index.count(`/files/${denied.filename}`), 0, "its metadata have said it");
  assert.equal(await sumOf("left", free.filename), sha256(free.bytes));
  assert.deepEqual(await namesOf("left"), [free.filename]);
});

test("a source distribution that names no license opens no wheel of its version that names a denied one", async () => {
  await setUpstream();
  await newPolicy(platform, group.uid, {
    ecosystem: "ECOSYSTEM_PYTHON",
    cooldown: "0s",
    deniedLicenses: ["AGPL-3.0*"],
  });
  const sources = sdistOf({ name: "left", version: "1.0" });
  const wheel = wheelOf({ name: "left", version: "1.0", lines: ["License-Expression: AGPL-3.0-only"] });
  for (const file of [sources, wheel]) index.publish("left", file);
  assert.equal(await sumOf("left", sources.filename), sha256(sources.bytes));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const answer = await get(`left/${wheel.filename}`);
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, /AGPL-3\.0/);
  }
  assert.deepEqual(await namesOf("left"), [sources.filename]);
});
