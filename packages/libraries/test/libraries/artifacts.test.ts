// The catalog of libraries by the API: order, search, counts and versions. What all lists have in common is in
// test/api/lists.test.ts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ecosystem } from "@moorage/api";
import { addArtifact } from "../../../server/test/support/artifacts.ts";
import { publishNpm } from "../../../server/test/support/npm.ts";
import { blamed, type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let token = "";
let [team, sub] = ["", ""];
const uids = new Map<string, string>();

const MADE: readonly [name: string, ecosystem: Ecosystem, versions: number][] = [
  ["left-pad", Ecosystem.JAVASCRIPT, 12],
  ["@acme/pad-right", Ecosystem.JAVASCRIPT, 1],
  ["Flask", Ecosystem.PYTHON, 2],
  ["org.example:padding", Ecosystem.JAVA, 1],
];

before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  sub = (await platform.group(team, { name: "below" })).uid;
  for (const [name, ecosystem, versions] of MADE)
    uids.set(name, (await addArtifact(platform, name === "Flask" ? sub : team, { name, ecosystem, versions })).uid);
});
after(() => platform.close());

const ALL = "ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVASCRIPT";
const list = (query: string): Promise<Json> => platform.ok("GET", `/libraries/v2/artifacts?${query}`);
const names = async (query: string): Promise<string[]> =>
  (await rows(list(query), "artifacts")).map(({ name }) => name);

test("artifacts are listed by ecosystem, in the order of their names", async () => {
  assert.deepEqual(await names(ALL), ["@acme/pad-right", "Flask", "left-pad", "org.example:padding"]);
  assert.deepEqual(await names(`${ALL}&order_by=name%20desc&page_size=2`), ["org.example:padding", "left-pad"]);
  assert.deepEqual(await names("ecosystems=ECOSYSTEM_JAVASCRIPT"), ["@acme/pad-right", "left-pad"]);
  assert.deepEqual(await names(`${ALL}&uidp.children_of=${sub}`), ["Flask"]);
  assert.equal((await list(`${ALL}&uidp.descendants_of=${team}&skip=3`)).totalCount, "4");
  const [artifact] = await rows(list("ecosystems=ECOSYSTEM_PYTHON"), "artifacts");
  assert.deepEqual(
    [artifact?.["latestVersion"], artifact?.["versionCount"], artifact?.["ecosystem"]],
    ["1.0.1", 2, "ECOSYSTEM_PYTHON"],
  );
});

test("pages go on across ecosystems, each with the total", async () => {
  const found: string[] = [];
  for (let pageToken = ""; ;) {
    const page = await list(`${ALL}&page_size=1${pageToken === "" ? "" : `&page_token=${pageToken}`}`);
    assert.equal(page.totalCount, "4");
    found.push(...(await rows(page, "artifacts")).map(({ name }) => name));
    pageToken = page.nextPageToken;
    if (pageToken === "") break;
  }
  assert.deepEqual(found, await names(ALL));
});

test("a query finds names by the beginnings of their words, in any case", async () => {
  assert.deepEqual(await names(`${ALL}&query=pad`), ["@acme/pad-right", "left-pad", "org.example:padding"]);
  assert.deepEqual(await names(`${ALL}&query=PAD-r`), ["@acme/pad-right"]);
  assert.deepEqual(await names(`${ALL}&query=org.ex`), ["org.example:padding"]);
  assert.deepEqual(await names(`${ALL}&query=flas`), ["Flask"]);
  assert.deepEqual(await names(`${ALL}&query=lask`), []);
  assert.equal((await list(`${ALL}&query=pad&page_size=1`)).totalCount, "3");
  assert.deepEqual(await names(`${ALL}&cuda_version=12.1`), []);
  assert.deepEqual(await names(`${ALL}&remediated=true`), []);
});

test("versions are in the order of their ecosystem, the newest first, and the path takes a uid with its slashes escaped", async () => {
  const uid = uids.get("left-pad") ?? "";
  const versions = async (query: string): Promise<[string[], string]> => {
    const page = await platform.ok("GET", `/libraries/v2/artifacts/${encodeURIComponent(uid)}/versions?${query}`);
    return [(await rows(page, "artifactVersions")).map(({ version }) => String(version)), page.totalCount];
  };
  const newest = Array.from({ length: 12 }, (_, at) => `1.0.${11 - at}`);
  assert.deepEqual(await versions(""), [newest, "12"]);
  assert.deepEqual(await versions("order_by=version&page_size=3"), [["1.0.0", "1.0.1", "1.0.2"], "12"]);
  const none = await platform.call(
    "GET",
    `/libraries/v2/artifacts/${encodeURIComponent(`${team}/${"0".repeat(16)}`)}/versions`,
    { token },
  );
  assert.equal(none.status, 404, none.text);
});

test("counts are those of what the caller may list", async () => {
  const counts = async (identity?: string): Promise<unknown> => {
    const answer = await platform.call("GET", "/libraries/v2/artifacts/count", {
      token: await platform.token(identity),
    });
    return (answer.body["counts"] as { totalCount: string }[]).map(({ totalCount }) => totalCount);
  };
  assert.deepEqual(await counts(), ["1", "1", "2"]);
  assert.deepEqual(await counts(await platform.identity(sub, "viewer")), ["0", "1", "0"]);
  assert.deepEqual(await counts(await platform.identity(platform.organization)), ["0", "0", "0"]);
  const one = await platform.ok("GET", "/libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_PYTHON");
  assert.deepEqual(one["counts"], [{ ecosystem: "ECOSYSTEM_PYTHON", totalCount: "1" }]);
});

test("an ecosystem must be named, and must be one", async () => {
  for (const query of ["", "ecosystems=ECOSYSTEM_UNSPECIFIED"]) {
    const answer = await platform.call("GET", `/libraries/v2/artifacts?${query}`, { token });
    assert.deepEqual([answer.status, blamed(answer)], [400, ["ecosystems"]]);
  }
});

test("a group with libraries is not deleted", async () => {
  const answer = await platform.call("DELETE", `/iam/v2/groups/${sub}`, { token });
  assert.equal(answer.status, 400, answer.text);
  assert.match(answer.text, /the group still has libraries: 1/);
});

test("the slashes of a uid may stand as they are before /versions and /images, in v2 and in v1", async () => {
  const uid = uids.get("left-pad") ?? "";
  for (const version of ["v2", "v2beta1"]) {
    const path = `/libraries/${version}/artifacts/${uid}`;
    assert.equal((await platform.ok("GET", `${path}/versions?page_size=1`)).totalCount, "12");
    assert.equal((await platform.ok("GET", `${path}/images`)).totalCount, "0");
    assert.equal((await platform.ok("GET", path)).name, "left-pad");
  }
  assert.equal((await rows(platform.ok("GET", `/libraries/v1/artifacts/${uid}/versions`), "items")).length, 12);
  const wrong = await platform.call("DELETE", `/libraries/v2/artifacts/${uid}/versions`, { token });
  assert.deepEqual([wrong.status, wrong.headers["allow"]], [405, "GET, HEAD"]);
});

test("a version that was published here says by whom, and one of an upstream does not", async () => {
  await publishNpm(platform, "acme", "published", "1.0.0");
  const [artifact] = await rows(list(`${ALL}&query=published`), "artifacts");
  const path = `/libraries/v2/artifacts/${encodeURIComponent(artifact?.uid ?? "")}/versions`;
  const publishers = async (): Promise<unknown[]> =>
    (await rows(platform.ok("GET", path), "artifactVersions")).map((each) => each["publisher"]);
  assert.deepEqual(await publishers(), [platform.owner]);
  await platform.transact((tx) =>
    tx
      .updateTable("artifact_versions")
      .set({ origin: 2 })
      .where("parent", "=", artifact?.uid ?? "")
      .execute(),
  );
  assert.deepEqual(await publishers(), [""]);
});
