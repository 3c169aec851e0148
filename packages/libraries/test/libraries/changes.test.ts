// Versions and libraries that are removed, yanked and deprecated by the API: what the clients of the ecosystems find
// afterwards, and who may.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { mavenPath, pomText, putMaven } from "../../../server/test/support/maven.ts";
import { sdistOf, uploadPypi } from "../../../server/test/support/pypi.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

let platform: Platform;
let token = "";
let team = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  team = (await platform.group(platform.organization, { name: "team" })).uid;
});
after(() => platform.close());

const ARTIFACTS = "/libraries/v2/artifacts";
const VERSIONS = "/libraries/v2/artifactVersions";
const ALL = "ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVASCRIPT";

async function artifactOf(name: string): Promise<Json | undefined> {
  const found = await rows(platform.ok("GET", `${ARTIFACTS}?${ALL}&query=${encodeURIComponent(name)}`), "artifacts");
  return found.find((each) => each.name === name);
}

async function versionOf(name: string, version: string): Promise<string> {
  const artifact = await artifactOf(name);
  const path = `${ARTIFACTS}/${encodeURIComponent(artifact?.uid ?? "")}/versions`;
  const found = (await rows(platform.ok("GET", path), "artifactVersions")).find((each) => each.version === version);
  assert.ok(found, `${name}@${version}`);
  return found.uid;
}

const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call("GET", path, { token, headers });
const simple = async (project: string): Promise<Json> =>
  (await get(`/pypi/acme/team/simple/${project}/`, { accept: "application/vnd.pypi.simple.v1+json" })).body as Json;
const upload = async (name: string, version: string): Promise<Answer> =>
  uploadPypi(platform, "acme/team", { ...sdistOf({ name, version }), name, version });

test("a version that is removed by the API is gone for npm, its tags move, and its number is not used again", async () => {
  for (const version of ["1.0.0", "1.1.0"]) await publishNpm(platform, "acme/team", "gone", version);
  const uid = await versionOf("gone", "1.1.0");
  const dry = await platform.call("DELETE", `${VERSIONS}/${uid}?validateOnly=true`, { token });
  assert.equal(dry.status, 200, dry.text);
  assert.equal((await get(`${npmPath("acme/team", "gone")}/-/gone-1.1.0.tgz`)).status, 200);
  await platform.ok("DELETE", `${VERSIONS}/${uid}`);
  const { body } = await get(npmPath("acme/team", "gone"));
  assert.deepEqual([body["dist-tags"], Object.keys(body["versions"] as object)], [{ latest: "1.0.0" }, ["1.0.0"]]);
  assert.equal((await get(`${npmPath("acme/team", "gone")}/-/gone-1.1.0.tgz`)).status, 404);
  assert.equal((await get(`${VERSIONS}/${uid}`)).status, 404);
  assert.equal((await publishNpm(platform, "acme/team", "gone", "1.1.0")).status, 403);
  const artifact = await artifactOf("gone");
  assert.deepEqual([artifact?.["latestVersion"], artifact?.["versionCount"]], ["1.0.0", 1]);
});

test("with its last version a library goes, and none of its versions comes back", async () => {
  await publishNpm(platform, "acme/team", "last", "1.0.0");
  await platform.ok("DELETE", `${VERSIONS}/${await versionOf("last", "1.0.0")}`);
  assert.equal(await artifactOf("last"), undefined);
  assert.equal((await get(npmPath("acme/team", "last"))).status, 404);
  assert.equal((await publishNpm(platform, "acme/team", "last", "1.0.0")).status, 403);
});

test("a library of each ecosystem is removed whole, for its clients too", async () => {
  await publishNpm(platform, "acme/team", "whole", "1.0.0");
  for (const version of ["1.0", "2.0"]) assert.equal((await upload("whole-py", version)).status, 200);
  const pom = "org/example/whole/1.0/whole-1.0.pom";
  const text = pomText("org.example", "whole", "1.0");
  assert.equal((await putMaven(platform, "acme/team", pom, text)).status, 201);
  const paths = [
    npmPath("acme/team", "whole"),
    "/pypi/acme/team/simple/whole-py/",
    mavenPath("acme/team", pom),
    mavenPath("acme/team", "org/example/whole/maven-metadata.xml"),
  ];
  for (const path of paths) assert.equal((await get(path)).status, 200, path);
  for (const name of ["whole", "whole-py", "org.example:whole"]) {
    const uid = (await artifactOf(name))?.uid ?? "";
    assert.equal((await platform.ok("GET", `${ARTIFACTS}/${uid}`)).name, name);
    await platform.ok("DELETE", `${ARTIFACTS}/${uid}`);
    assert.equal((await get(`${ARTIFACTS}/${uid}`)).status, 404);
  }
  for (const path of paths) assert.equal((await get(path)).status, 404, path);
  assert.equal((await upload("whole-py", "2.0")).status, 409);
  assert.equal((await putMaven(platform, "acme/team", pom, text)).status, 409);
});

test("a Maven version that is removed is named by no metadata any more", async () => {
  for (const version of ["1.0", "2.0"]) {
    const text = pomText("org.example", "app", version, `app ${version}`);
    await putMaven(platform, "acme/team", `org/example/app/${version}/app-${version}.pom`, text);
  }
  await platform.ok("DELETE", `${VERSIONS}/${await versionOf("org.example:app", "2.0")}`);
  const { text } = await get(mavenPath("acme/team", "org/example/app/maven-metadata.xml"));
  assert.match(text, /<release>1\.0<\/release>/);
  assert.doesNotMatch(text, /2\.0/);
  const artifact = await artifactOf("org.example:app");
  assert.deepEqual([artifact?.["latestVersion"], artifact?.["description"]], ["1.0", "app 1.0"]);
});

test("a Python version is yanked with a reason, found by pip as PEP 592 has it, and back again", async () => {
  for (const version of ["1.0", "2.0"]) assert.equal((await upload("yanks", version)).status, 200);
  const uid = await versionOf("yanks", "2.0");
  const yank = (body: object): Promise<Json> => platform.ok("PATCH", `${VERSIONS}/${uid}`, body);
  const shown = async (): Promise<unknown[]> =>
    ((await simple("yanks"))["files"] as { yanked?: unknown }[]).map(({ yanked }) => yanked ?? false);
  const yanked = await yank({ yanked: true, yankReason: "broken <b>" });
  assert.deepEqual([yanked["yanked"], yanked["yankReason"]], [true, "broken <b>"]);
  assert.deepEqual(await shown(), [false, "broken <b>"]);
  assert.match((await get("/pypi/acme/team/simple/yanks/")).text, /data-yanked="broken &lt;b&gt;"/);
  assert.equal((await artifactOf("yanks"))?.["latestVersion"], "1.0");
  assert.deepEqual((await yank({ yankReason: "" }))["yanked"], true);
  assert.deepEqual(await shown(), [false, true]);
  await yank({ yankReason: "again" });
  const back = await yank({ yanked: false });
  assert.deepEqual([back["yanked"], back["yankReason"]], [false, ""]);
  assert.deepEqual(await shown(), [false, false]);
  assert.equal((await artifactOf("yanks"))?.["latestVersion"], "2.0");
  assert.deepEqual((await platform.ok("GET", `${VERSIONS}/${uid}`))["yanked"], false);
});

test("an npm version is deprecated and back again, and npm finds it so", async () => {
  await publishNpm(platform, "acme/team", "older", "1.0.0");
  const uid = await versionOf("older", "1.0.0");
  const shown = async (): Promise<unknown> =>
    ((await get(npmPath("acme/team", "older"))).body["versions"] as Record<string, Json>)["1.0.0"]?.["deprecated"];
  await platform.ok("PATCH", `${VERSIONS}/${uid}?updateMask=deprecation`, { deprecation: "use newer" });
  assert.equal(await shown(), "use newer");
  assert.equal((await platform.ok("GET", `${VERSIONS}/${uid}`))["deprecation"], "use newer");
  await platform.ok("PATCH", `${VERSIONS}/${uid}`, { deprecation: "" });
  assert.equal(await shown(), undefined);
});

test("what an ecosystem does not know is rejected by the field, and changes nothing", async () => {
  await publishNpm(platform, "acme/team", "fits", "1.0.0");
  assert.equal((await upload("fits-py", "1.0")).status, 200);
  const npm = `${VERSIONS}/${await versionOf("fits", "1.0.0")}`;
  const pypi = `${VERSIONS}/${await versionOf("fits-py", "1.0")}`;
  const wrong: [path: string, body: object, fields: string[]][] = [
    [npm, { yanked: true }, ["yanked"]],
    [npm, { deprecation: "x".repeat(4_097) }, ["deprecation"]],
    [npm, { deprecation: "a\0b" }, ["deprecation"]],
    [pypi, { yankReason: "why" }, ["yankReason"]],
    [pypi, { deprecation: "old" }, ["deprecation"]],
    [`${pypi}?updateMask=version`, { version: "3.0" }, ["updateMask"]],
  ];
  for (const [path, body, fields] of wrong) {
    const answer = await platform.call("PATCH", path, { token, body });
    assert.deepEqual([answer.status, blamed(answer)], [400, fields], answer.text);
  }
  const { body } = await get(npm);
  assert.deepEqual([body["yanked"], body["deprecation"]], [false, ""]);
});

test("rights: who removes and who yanks, and what is said to the others", async () => {
  await publishNpm(platform, "acme/team", "rights", "1.0.0");
  const uid = await versionOf("rights", "1.0.0");
  const outcomes: Record<string, number[]> = {};
  const elsewhere = (await platform.group(platform.organization, { name: "elsewhere" })).uid;
  for (const [role, group] of [
    ["viewer", team],
    ["registry.push", team],
    ["editor", elsewhere],
    ["editor", team],
  ] as const) {
    const own = await platform.token(await platform.identity(group, role));
    const body = { deprecation: role };
    const patched = await platform.call("PATCH", `${VERSIONS}/${uid}`, { token: own, body });
    const removed = await platform.call("DELETE", `${VERSIONS}/${uid}?validateOnly=true`, { token: own });
    outcomes[`${role} ${group === team ? "of team" : "elsewhere"}`] = [patched.status, removed.status];
    if (role === "viewer") assert.match(patched.text, /lacks CAP_LIBRARIES_JAVASCRIPT_PUBLISH/);
  }
  assert.deepEqual(outcomes, {
    "viewer of team": [403, 403],
    "registry.push of team": [200, 403],
    "editor elsewhere": [404, 404],
    "editor of team": [200, 200],
  });
});

test("the audit log has what was done to which version, whoever did it", async () => {
  for (const version of ["1.0", "2.0"]) assert.equal((await upload("audited", version)).status, 200);
  const artifact = (await artifactOf("audited"))?.uid ?? "";
  await platform.ok("PATCH", `${VERSIONS}/${await versionOf("audited", "2.0")}`, { yanked: true });
  await platform.ok("DELETE", `${ARTIFACTS}/${artifact}`);
  const entries = await rows(platform.ok("GET", `/iam/v2/auditEntries?page_size=200`), "auditEntries");
  const seen = entries
    .filter(({ resource, method }) => resource === artifact && String(method).startsWith("libraries.version"))
    .map((entry: Record<string, unknown>) => {
      const { version, change = "" } = entry["details"] as { version: string; change?: string };
      return [entry["method"], version, change].join(" ");
    });
  assert.deepEqual(seen.toSorted(), [
    "libraries.version.changed 2.0 yanked",
    "libraries.version.published 1.0 ",
    "libraries.version.published 2.0 ",
    "libraries.version.removed 1.0 ",
    "libraries.version.removed 2.0 ",
  ]);
});
