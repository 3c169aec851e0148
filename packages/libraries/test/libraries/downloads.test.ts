// Which requests of npm, pip and Maven count as downloads, who may read the counts, and how gaps in them are reported.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { mavenPath, pomText, putMaven } from "../../../server/test/support/maven.ts";
import { publishNpm } from "../../../server/test/support/npm.ts";
import { type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

interface Downloads {
  uid: string;
  artifactId: string;
  name: string;
  version: string;
  ecosystem: string;
  count: string;
  lastTime: string;
}
interface Answered extends Json {
  downloads: Downloads[];
  coverage: { since?: string; lossyDays: string[]; lossyDayCount: number };
  startDay: string;
  leftOutUids: string[];
  uncountedUids: string[];
}

const DAY_MS = 86_400_000;
const GROUP = "acme/team";
const PATH = "/libraries/v2/downloads";
let platform: Platform;
let group = "";
let token = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_WORK_POLL: "20ms" });
  token = await platform.token();
  ({ uid: group } = await platform.group(platform.organization, { name: "team" }));
});
after(() => platform.close());

const list = (query = ""): Promise<Answered> => platform.ok<Answered>("GET", `${PATH}?${query}`);
async function get(path: string, headers: Record<string, string> = {}, as = token, method = "GET"): Promise<number> {
  return (await platform.call(method, path, { token: as, headers })).status;
}
async function uidOf(name: string): Promise<string> {
  const all = ["JAVASCRIPT", "PYTHON", "JAVA"].map((each) => `ecosystems=ECOSYSTEM_${each}`).join("&");
  const found = await rows(
    platform.ok("GET", `/libraries/v2/artifacts?${all}&query=${encodeURIComponent(name)}`),
    "artifacts",
  );
  return found.find((each) => each["name"] === name)?.uid ?? "";
}
const versionsOf = (uid: string): Promise<Json[]> =>
  rows(platform.ok("GET", `/libraries/v2/artifacts/${encodeURIComponent(uid)}/versions`), "artifactVersions");
/** How often a library and its versions were downloaded, once the library was so often. */
async function counts(name: string, total: number): Promise<Record<string, string>> {
  const uid = await uidOf(name);
  await eventually(async () => (await list(`uids=${uid}`)).downloads[0]?.count === String(total));
  const { downloads } = await list(`artifact_id=${uid}`);
  return Object.fromEntries(downloads.map(({ version, count }) => [version, count]));
}
async function npm(name: string, ...versions: string[]): Promise<void> {
  for (const version of versions) assert.equal((await publishNpm(platform, GROUP, name, version)).status, 201);
}
const tarball = (name: string, version: string): string => `/npm/${GROUP}/${name}/-/${name}-${version}.tgz`;

test("tarballs of npm count, from memory as well; packuments, parts and HEAD do not", async () => {
  await npm("left", "1.0.0", "1.1.0", "2.0.0");
  for (let times = 0; times < 3; times += 1) assert.equal(await get(tarball("left", "1.0.0")), 200);
  assert.equal(await get(tarball("left", "1.1.0")), 200);
  assert.equal(await get(`/npm/${GROUP}/left`), 200);
  assert.equal(await get(tarball("left", "2.0.0"), { range: "bytes=1-3" }), 206);
  assert.equal(await get(tarball("left", "2.0.0"), {}, token, "HEAD"), 200);
  assert.equal(await get(tarball("left", "9.0.0")), 404);
  assert.deepEqual(await counts("left", 4), { "1.0.0": "3", "1.1.0": "1" });
  const uid = await uidOf("left");
  const { downloads, coverage, startDay, leftOutUids, uncountedUids } = await list(`uids=${uid}`);
  const [{ lastTime = "", ...row } = {} as Downloads] = downloads;
  assert.deepEqual(row, {
    uid,
    artifactId: uid,
    name: "left",
    version: "",
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    count: "4",
  });
  assert.ok(lastTime <= new Date(platform.clock.nowMs()).toISOString() && lastTime > "2020");
  assert.ok(coverage.since !== undefined && coverage.lossyDayCount === 0);
  assert.equal(startDay, new Date(platform.clock.nowMs() - 29 * DAY_MS).toISOString().slice(0, 10));
  assert.deepEqual([leftOutUids, uncountedUids], [[], []]);
});

test("a client that has the tarball already counts, as it does with images", async () => {
  await npm("known", "1.0.0");
  const { headers } = await platform.call("GET", tarball("known", "1.0.0"), { token });
  assert.equal(await get(tarball("known", "1.0.0"), { "if-none-match": String(headers["etag"]) }), 304);
  assert.deepEqual(await counts("known", 2), { "1.0.0": "2" });
});

test("distributions of PyPI count, and what stands beside them does not", async () => {
  const wheel = { name: "shapes", version: "1.0" };
  const made = wheelOf(wheel);
  assert.equal((await uploadPypi(platform, GROUP, { ...wheel, ...made })).status, 200);
  const path = `/pypi/${GROUP}/simple/shapes`;
  assert.equal(await get(`${path}/${made.filename}.metadata`), 200);
  assert.equal(await get(`${path}/`), 200);
  assert.equal(await get(`${path}/${made.filename}`), 200);
  assert.deepEqual(await counts("shapes", 1), { "1.0": "1" });
});

async function deploy(artifactId: string, files: Record<string, string>): Promise<void> {
  for (const [ending, content] of Object.entries(files)) {
    const answer = await putMaven(platform, GROUP, `org/example/${artifactId}/1.0/${artifactId}-1.0${ending}`, content);
    assert.equal(answer.status, 201, answer.text);
  }
}
const maven = (artifactId: string, ending: string): string =>
  mavenPath(GROUP, `org/example/${artifactId}/1.0/${artifactId}-1.0${ending}`);

test("of Maven the files that are installed count, and a POM where it is all there is", async () => {
  await deploy("app", { ".pom": pomText("org.example", "app", "1.0"), ".jar": "jar", "-sources.jar": "sources" });
  for (const ending of [".pom", ".jar", ".jar.sha1", "-sources.jar", ".jar"])
    assert.equal(await get(maven("app", ending)), 200, ending);
  assert.deepEqual(await counts("org.example:app", 2), { "1.0": "2" });
  const parent = pomText("org.example", "parent", "1.0").replace("</project>", "<packaging>pom</packaging></project>");
  await deploy("parent", { ".pom": parent });
  assert.equal(await get(maven("parent", ".pom")), 200);
  assert.deepEqual(await counts("org.example:parent", 1), { "1.0": "1" });
});

test("a POM that came before its packaging was noted is said to be not counted, and is no 0", async () => {
  await deploy("old", { ".pom": pomText("org.example", "old", "1.0") });
  await deploy("new", { ".pom": pomText("org.example", "new", "1.0") });
  const [old, fresh] = [await uidOf("org.example:old"), await uidOf("org.example:new")];
  await platform.transact(async (tx) => {
    await tx.updateTable("artifact_files").set({ metadata: "{}" }).where("artifact", "=", old).execute();
  });
  const { downloads, uncountedUids } = await list(`uids=${old}&uids=${fresh}`);
  assert.deepEqual([downloads, uncountedUids], [[], [old]]);
  const [version] = await versionsOf(old);
  assert.deepEqual((await list(`artifact_id=${old}&uids=${version?.uid}`)).uncountedUids, [version?.uid]);
});

test("identities that are not counted, and versions that are gone, are left out", async () => {
  await npm("quiet", "1.0.0", "2.0.0");
  const { uid: robot } = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, {
    name: "scanner",
    uncounted: true,
  });
  await platform.bind(platform.organization, robot, await platform.role("owner"));
  const theirs = await platform.token(robot);
  assert.equal(await get(tarball("quiet", "1.0.0"), {}, theirs), 200);
  assert.equal(await get(tarball("quiet", "1.0.0"), {}, theirs), 200, "from memory");
  assert.equal(await get(tarball("quiet", "1.0.0")), 200);
  assert.equal(await get(tarball("quiet", "2.0.0")), 200);
  assert.deepEqual(await counts("quiet", 2), { "1.0.0": "1", "2.0.0": "1" });
  const uid = await uidOf("quiet");
  const gone = (await versionsOf(uid)).find((each) => each["version"] === "2.0.0")?.uid ?? "";
  await platform.ok("DELETE", `/libraries/v2/artifactVersions/${gone}`);
  const { downloads, leftOutUids } = await list(`artifact_id=${uid}&uids=${gone}`);
  assert.deepEqual([downloads, leftOutUids], [[], [gone]]);
});

test("counts are of the days that are asked for, the last download of all time", async () => {
  await npm("aged", "1.0.0");
  platform.clock.offsetMs = -40 * DAY_MS;
  assert.equal(await get(tarball("aged", "1.0.0"), {}, await platform.token()), 200);
  const uid = await uidOf("aged");
  await eventually(async () => (await list(`uids=${uid}`)).downloads[0]?.count === "1");
  platform.clock.offsetMs = 0;
  const { downloads } = await list(`uids=${uid}`);
  assert.deepEqual(
    downloads.map(({ count, lastTime }) => [count, lastTime.slice(0, 10)]),
    [["0", new Date(platform.clock.nowMs() - 40 * DAY_MS).toISOString().slice(0, 10)]],
  );
  assert.equal((await list(`uids=${uid}&days=60`)).downloads[0]?.count, "1");
});

test("who may list libraries, and not usage, gets none, and is not shown zeros; pages go on", async () => {
  const { uid: other } = await platform.group(platform.organization, { name: "other" });
  await npm("one", "1.0.0", "1.0.1", "1.0.2");
  for (const version of ["1.0.0", "1.0.1", "1.0.2"]) assert.equal(await get(tarball("one", version)), 200);
  await counts("one", 3);
  const uid = await uidOf("one");
  const viewer = await platform.token(await platform.identity(group, "viewer"));
  const theirs = await platform.call("GET", `${PATH}?uids=${uid}`, { token: viewer });
  assert.deepEqual(
    (theirs.body["downloads"] as Downloads[]).map(({ count }) => count),
    ["3"],
  );
  const stranger = await platform.token(await platform.identity(other, "viewer"));
  const hidden = await platform.call("GET", `${PATH}?uids=${uid}`, { token: stranger });
  assert.deepEqual([hidden.body["downloads"], hidden.body["leftOutUids"]], [[], [uid]]);
  const role = await platform.ok<Json>("POST", `/iam/v2/roles/${platform.organization}`, {
    name: "lists",
    capabilities: ["CAP_LIBRARIES_ARTIFACTS_LIST", "CAP_IAM_GROUPS_LIST"],
  });
  const lister = await platform.identity(platform.organization);
  await platform.bind(platform.organization, lister, role.uid);
  const asked = await platform.call("GET", `${PATH}?artifact_id=${uid}`, { token: await platform.token(lister) });
  assert.deepEqual([asked.status, asked.body.code], [403, 7], asked.text);

  const paged: string[] = [];
  for (let pageToken = ""; ;) {
    const page = await list(`artifact_id=${uid}&page_size=1&page_token=${encodeURIComponent(pageToken)}`);
    paged.push(...page.downloads.map(({ version }) => version));
    pageToken = page.nextPageToken;
    if (pageToken === "") break;
  }
  assert.deepEqual(paged.sort(), ["1.0.0", "1.0.1", "1.0.2"]);
  for (const query of ["days=367", "days=-1", "page_size=-1", "uidp.in_root=true"])
    assert.equal((await platform.call("GET", `${PATH}?${query}`, { token })).status, 400, query);
});

test("a process that crashed marks its days, and one that counts nothing forgets since when", async (t) => {
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    await tx
      .insertInto("download_counters")
      .values({ id: "crashed", time: nowMs, until_time: nowMs - 1 })
      .execute();
  });
  await npm("crashed", "1.0.0");
  assert.equal(await get(tarball("crashed", "1.0.0")), 200);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  await eventually(async () => (await list()).coverage.lossyDays.includes(day));
  const none = await startPlatform({ MOORAGE_PULLS_RETENTION: "0" });
  t.after(() => none.close());
  const { coverage, downloads } = await none.ok<Answered>("GET", PATH);
  assert.deepEqual([coverage.since, downloads], [undefined, []]);
});
