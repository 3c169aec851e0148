import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Sum {
  day: string;
  repoUid: string;
  name: string;
  tag: string;
  digest: string;
  identity: string;
  count: string;
  bytes: string;
  firstTime: string;
  lastTime: string;
}
interface Sums extends Json {
  pulls: Sum[];
  csv: string;
  coverage: { since?: string; lossyDays: string[]; lossyDayCount: number };
}

const DAY_MS = 86_400_000;
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_WORK_POLL: "20ms", MOORAGE_EVENTS_PULLS: "0" });
});
after(() => platform.close());

const list = (query = ""): Promise<Sums> =>
  platform.ok<Sums>("GET", `/registry/v2/pulls?uidp.descendants_of=${platform.organization}&${query}`);
const host = (): string => new URL(platform.url).host;

/** Pulls a manifest or a blob as the identity. */
async function pull(identity: string, path: string, method = "GET", headers: Record<string, string> = {}) {
  const token = await platform.token(identity, { audience: host() });
  const answer = await platform.call(method, `/v2/${path}`, { token, headers });
  assert.ok([200, 206, 304].includes(answer.status), answer.text);
  return answer;
}
/** The sums of one repo, once they are what the test waits for. */
async function sumsOf(repo: string, groupBy: string[], isThere: (sums: Sum[]) => boolean): Promise<Sum[]> {
  const query = `repo_uid=${repo}&${groupBy.map((each) => `group_by=${each}`).join("&")}`;
  let { pulls } = await list(query);
  await eventually(async () => isThere(({ pulls } = await list(query)).pulls));
  return pulls;
}
const total = (sums: Sum[]): number => sums.reduce((sum, { count }) => sum + Number(count), 0);

async function image(name: string): Promise<{ repo: string; digest: string; size: number }> {
  const digest = await pushImage(platform, `acme/${name}`, "v1");
  const { repos } = await platform.ok<Json & { repos: Json[] }>("GET", `/registry/v2/repos?name=${name}`);
  const [row] = await platform.reader.selectFrom("manifests").select("size").where("digest", "=", digest).execute();
  return { repo: repos[0]?.uid ?? "", digest, size: Number(row?.size) };
}

test("pulls are summed up by day, repo, tag, digest and identity, with events of pulls off", async () => {
  const { repo, digest, size } = await image("summed");
  const [ann, bob] = [
    await platform.identity(platform.organization, "viewer"),
    await platform.identity(platform.organization, "viewer"),
  ];
  await pull(ann, "acme/summed/manifests/v1");
  await pull(ann, "acme/summed/manifests/v1");
  await pull(bob, `acme/summed/manifests/${digest}`);
  await pull(bob, "acme/summed/manifests/v1", "GET", { "if-none-match": `"${digest}"` });
  const all = ["DAY", "REPO", "TAG", "DIGEST", "IDENTITY"];
  const sums = await sumsOf(repo, all, (found) => total(found) === 4);
  const day = new Date(platform.clock.nowMs()).toISOString().slice(0, 10);
  const row = ({ firstTime: _first, lastTime: _last, ...sum }: Sum) => sum;
  const of = (tag: string, identity: string, count: string, bytes: number) => ({
    day,
    repoUid: repo,
    name: "acme/summed",
    tag,
    digest,
    identity,
    count,
    bytes: String(bytes),
  });
  const expected = [of("v1", ann, "2", 2 * size), of("", bob, "1", size), of("v1", bob, "1", 0)];
  const byText = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  assert.deepEqual(sums.map(row).sort(byText), expected.sort(byText));
  const [first] = sums;
  assert.ok(first !== undefined && first.firstTime <= first.lastTime);

  const { pulls: byTag, coverage } = await list(`repo_uid=${repo}&group_by=TAG`);
  assert.deepEqual(
    byTag.map(({ tag, count, repoUid }) => [tag, count, repoUid]),
    [
      ["", "1", ""],
      ["v1", "3", ""],
    ],
  );
  assert.ok(coverage.since !== undefined && coverage.lossyDayCount === 0);
  const { pulls: ofBob } = await list(`repo_uid=${repo}&identity=${bob}`);
  assert.equal(total(ofBob), 2);
  const { pulls: before } = await list(`repo_uid=${repo}&end_time=2020-01-01T00:00:00Z`);
  assert.deepEqual(before, []);
  // Pages.
  const query = `repo_uid=${repo}&${all.map((each) => `group_by=${each}`).join("&")}&page_size=1`;
  const paged: Sum[] = [];
  for (let token = ""; ;) {
    const page = await list(`${query}&page_token=${encodeURIComponent(token)}`);
    paged.push(...page.pulls);
    token = page.nextPageToken;
    if (token === "") break;
  }
  assert.deepEqual(paged, sums);
});

test("layers count as bytes, a HEAD only moves the last pull, of the index above as well", async () => {
  const { repo, digest } = await image("layers");
  const ann = await platform.identity(platform.organization, "viewer");
  const owner = await platform.token(platform.owner, { audience: host() });
  const manifest = await platform.call("GET", `/v2/acme/layers/manifests/${digest}`, { token: owner });
  const { layers } = JSON.parse(manifest.text) as { layers: { digest: string; size: number }[] };
  const [layer] = layers;
  const type = "application/vnd.oci.image.index.v1+json";
  const raw = JSON.stringify({
    schemaVersion: 2,
    mediaType: type,
    manifests: [
      { mediaType: "application/vnd.oci.image.manifest.v1+json", digest, size: Buffer.byteLength(manifest.text) },
    ],
  });
  const pushed = await platform.call("PUT", "/v2/acme/layers/manifests/multi", {
    token: owner,
    raw,
    headers: { "content-type": type },
  });
  assert.equal(pushed.status, 201, pushed.text);
  await sumsOf(repo, ["REPO"], (found) => total(found) === 1);
  await pull(ann, `acme/layers/blobs/${layer?.digest}`);
  await pull(ann, `acme/layers/blobs/${layer?.digest}`, "GET", { range: "bytes=0-1" });
  await pull(ann, `acme/layers/blobs/${layer?.digest}`, "HEAD");
  const [bytes] = await sumsOf(
    repo,
    ["DIGEST", "IDENTITY"],
    (found) => found[0]?.bytes === String((layer?.size ?? 0) + 2),
  );
  assert.deepEqual([bytes?.digest, bytes?.identity, bytes?.count], ["", ann, "0"]);

  const tag = async (name: string): Promise<string | undefined> => {
    const { tags } = await platform.ok<Json & { tags: Json[] }>(
      "GET",
      `/registry/v2/tags?uidp.children_of=${repo}&name=${name}`,
    );
    return tags[0]?.["lastPullTime"] as string | undefined;
  };
  // Past the API, whose answers are cached for a minute.
  const stored = async () =>
    (await platform.reader.selectFrom("tags").select("last_pull_time").where("parent", "=", repo).execute()).map(
      (row) => Number(row.last_pull_time),
    );
  platform.clock.offsetMs = 2 * DAY_MS;
  await pull(ann, `acme/layers/manifests/${digest}`, "HEAD");
  await eventually(async () => (await stored()).every((timeMs) => timeMs > Date.now() + DAY_MS));
  assert.ok((await tag("v1")) !== undefined);
  assert.equal(await tag("multi"), await tag("v1"), "the tag of the digest, and of the index above it");
  assert.equal(total((await list(`repo_uid=${repo}`)).pulls), 1, "a HEAD is no pull");
  platform.clock.offsetMs = 0;
});

test("what is not counted: identities that say so, and who may not list events sees no identities", async () => {
  const { repo, digest } = await image("uncounted");
  const { uid: robot } = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, {
    name: "scanner",
    uncounted: true,
  });
  await platform.bind(platform.organization, robot, await platform.role("viewer"));
  const ann = await platform.identity(platform.organization, "viewer");
  await pull(robot, "acme/uncounted/manifests/v1");
  await pull(ann, "acme/uncounted/manifests/v1");
  await pull(robot, "acme/uncounted/manifests/v1");
  const sums = await sumsOf(repo, ["IDENTITY"], (found) => total(found) > 0);
  assert.deepEqual(
    sums.map(({ identity, count }) => [identity, count]),
    [[ann, "1"]],
  );
  // Whoever is not counted hides no pull that was just before.
  const last = await platform.reader
    .selectFrom("last_pulls")
    .select(["digest", "identity"])
    .where("repo", "=", repo)
    .execute();
  assert.deepEqual(
    last.map((row) => ({ ...row })),
    [{ digest, identity: ann }],
  );
  const token = await platform.token(ann);
  const asked = (query: string) =>
    platform.call("GET", `/registry/v2/pulls?repo_uid=${encodeURIComponent(repo)}&${query}`, { token });
  assert.equal((await asked("group_by=TAG")).status, 200);
  for (const query of ["group_by=IDENTITY", `identity=${ann}`]) {
    const answer = await asked(query);
    assert.deepEqual([answer.status, answer.body.code], [403, 7], answer.text);
  }
  const stranger = await platform.token(await platform.identity(platform.organization));
  const empty = await platform.call("GET", "/registry/v2/pulls", { token: stranger });
  assert.deepEqual([empty.status, empty.body["pulls"]], [200, []]);
});

test("names that nobody has are no pulls, however many are asked for", async () => {
  const { repo, digest } = await image("real");
  const ann = await platform.identity(platform.organization, "viewer");
  const token = await platform.token(ann, { audience: host() });
  const repos = async (): Promise<number> => (await platform.reader.selectFrom("repos").select("uid").execute()).length;
  const before = await repos();
  for (let at = 0; at < 20; at += 1)
    for (const path of [
      `random-${at}/manifests/v1`,
      `real/manifests/random-${at}`,
      `real/blobs/${digest.slice(0, -2)}${at + 10}`,
    ])
      for (const method of ["GET", "HEAD"])
        assert.equal((await platform.call(method, `/v2/acme/${path}`, { token })).status, 404, path);
  await pull(ann, "acme/real/manifests/v1");
  const sums = await sumsOf(repo, ["TAG"], (found) => total(found) > 0);
  assert.deepEqual(
    sums.map(({ tag, count }) => [tag, count]),
    [["v1", "1"]],
  );
  const { pulls } = await list(`identity=${ann}&group_by=REPO`);
  assert.deepEqual(
    pulls.map(({ repoUid }) => repoUid),
    [repo],
  );
  assert.equal(await repos(), before);
});

test("pulls of some repos are asked for in one call, which says of which of them nothing may be known", async () => {
  const [one, two, third] = [await image("some-one"), await image("some-two"), await image("some-third")];
  const hidden = (await platform.group(platform.organization, { name: "hidden" })).uid;
  await pushImage(platform, "acme/hidden/app", "v1");
  const { repos } = await platform.ok<Json & { repos: Json[] }>("GET", `/registry/v2/repos?uidp.children_of=${hidden}`);
  const elsewhere = repos[0]?.uid ?? "";
  for (const name of ["some-one", "some-one", "some-third"]) await pull(platform.owner, `acme/${name}/manifests/v1`);
  const query = [one.repo, two.repo, elsewhere].map((repo) => `repo_uids=${repo}`).join("&");
  let found = await list(`${query}&group_by=REPO`);
  await eventually(async () => {
    found = await list(`${query}&group_by=REPO`);
    return found.pulls.some(({ count }) => count === "2");
  });
  assert.deepEqual(
    found.pulls.map(({ repoUid, count }) => [repoUid, count]),
    [[one.repo, "2"]],
    "not those of the third, which was not asked for",
  );
  assert.deepEqual(found["leftOutRepoUids"], []);
  assert.notEqual(third.repo, "");

  const team = (await platform.group(platform.organization, { name: "seen" })).uid;
  const viewer = await platform.identity(team, "viewer");
  const answer = await platform.call("GET", `/registry/v2/pulls?${query}&group_by=REPO`, {
    token: await platform.token(viewer),
  });
  assert.deepEqual(answer.body["pulls"], []);
  assert.deepEqual(answer.body["leftOutRepoUids"], [one.repo, two.repo, elsewhere], "that is no 0");
  const many = Array.from({ length: 101 }, () => `repo_uids=${one.repo}`).join("&");
  assert.equal(
    (await platform.call("GET", `/registry/v2/pulls?${many}`, { token: await platform.token() })).status,
    400,
  );
});

test("CSV has the rows of the page, and no cell that a spreadsheet runs", async () => {
  const { repo } = await image("csv");
  await pull(platform.owner, "acme/csv/manifests/v1");
  await sumsOf(repo, ["REPO"], (found) => total(found) === 1);
  const { csv, pulls } = await list(`repo_uid=${repo}&group_by=REPO&group_by=TAG&format=CSV`);
  assert.deepEqual(pulls, []);
  const [header, row, end] = csv.split("\r\n");
  assert.equal(header, "day,repo_uid,image,tag,digest,identity,count,bytes,first_time,last_time");
  assert.match(row ?? "", new RegExp(`^,${repo},acme/csv,v1,,,1,[0-9]+,`));
  assert.equal(end, "");
});

test("a process that crashed marks the days on which its pulls may be missing", async () => {
  const { since } = (await list()).coverage;
  assert.ok(since !== undefined);
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    await tx
      .insertInto("pull_counters")
      .values({ id: "crashed", time: nowMs, until_time: nowMs - 1 })
      .execute();
  });
  await image("crashed");
  await pull(platform.owner, "acme/crashed/manifests/v1");
  const day = new Date(nowMs).toISOString().slice(0, 10);
  await eventually(async () => (await list()).coverage.lossyDays.includes(day));
  const { coverage } = await list();
  assert.deepEqual([coverage.since, coverage.lossyDayCount], [since, 1]);
});
