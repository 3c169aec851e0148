// Versions that move in have the times that they have where they come from, by those who may say so.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { npmPath, publishDocument } from "../../../server/test/support/npm.ts";
import { type Answer, type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { sdistOf, uploadPypi, wheelOf } from "../../../server/test/support/pypi.ts";

let platform: Platform;
let token = "";
let team = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  team = (await platform.group(platform.organization, { name: "team" })).uid;
});
after(() => platform.close());

const GROUP = "acme/team";
const OLD = "2021-03-04T05:06:07.089Z";
const JSON_TYPE = "application/vnd.pypi.simple.v1+json";

const publish = async (name: string, version: string, time: string, as = token): Promise<Answer> =>
  await platform.call("PUT", npmPath(GROUP, name), {
    token: as,
    body: publishDocument(name, version),
    headers: { "moorage-publish-time": time },
  });
const packument = async (name: string): Promise<Json> =>
  (await platform.call("GET", npmPath(GROUP, name), { token })).body;

test("an npm version has the time of the header, in each form of RFC 3339; the API says when it came here", async () => {
  const startMs = Date.now();
  assert.equal((await publish("dated", "1.1.0", "2021-04-04T07:06:07+02:00")).status, 201);
  assert.equal((await publish("dated", "1.0.0", OLD)).status, 201);
  const time = (await packument("dated"))["time"] as Record<string, string>;
  assert.deepEqual([time["1.0.0"], time["1.1.0"], time["created"]], [OLD, "2021-04-04T05:06:07.000Z", OLD]);
  assert.ok(Date.parse(time["modified"] ?? "") >= startMs - 1_000);
  const [artifact] = await rows(
    platform.ok("GET", "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVASCRIPT&query=dated"),
    "artifacts",
  );
  const id = encodeURIComponent(String(artifact?.uid));
  const versions = await rows(platform.ok("GET", `/libraries/v2/artifacts/${id}/versions`), "artifactVersions");
  assert.equal(versions.length, 2);
  for (const version of versions) assert.ok(Date.parse(String(version["createTime"])) >= startMs - 1_000);
});

test("files of a Python project have the times that they had, each its own", async () => {
  const project = { name: "dated", version: "1.0" };
  const upload = async (made: { filename: string; bytes: Buffer }, time: string): Promise<void> => {
    const headers = { "moorage-publish-time": time };
    const answer = await uploadPypi(platform, GROUP, { ...project, ...made, headers });
    assert.equal(answer.status, 200, answer.text);
  };
  const [wheel, sdist] = [wheelOf(project), sdistOf(project)];
  await upload(wheel, OLD);
  await upload(sdist, "2022-01-01T00:00:00Z");
  const page = await platform.call("GET", `/pypi/${GROUP}/simple/dated/`, { token, headers: { accept: JSON_TYPE } });
  const files = page.body["files"] as Record<string, string>[];
  const times = Object.fromEntries(
    files.map((file) => [file["filename"] ?? "", Date.parse(file["upload-time"] ?? "")]),
  );
  assert.deepEqual(times, {
    [wheel.filename]: Date.parse(OLD),
    [sdist.filename]: Date.parse("2022-01-01T00:00:00Z"),
  });
});

test("what is no time, and times in the future and before 1970, are refused by the header's name", async () => {
  const future = new Date(Date.now() + 3_600_000).toISOString();
  for (const [time, why] of [
    ["yesterday", /must be a time of RFC 3339/],
    ["2021-03-04", /must be a time of RFC 3339/],
    ["2021-02-30T00:00:00Z", /must be a time of RFC 3339/],
    ["1614834367", /must be a time of RFC 3339/],
    [future, /must not be in the future/],
    ["1969-12-31T23:59:59Z", /must not be before 1970/],
  ] as const) {
    const answer = await publish("refused", "1.0.0", time);
    assert.equal(answer.status, 400, time);
    assert.match(String(answer.body["error"]), /^Invalid argument: Moorage-Publish-Time: /);
    assert.match(String(answer.body["error"]), why);
  }
  assert.equal((await platform.call("GET", npmPath(GROUP, "refused"), { token })).status, 404);
});

test("who may publish, but not import, is refused a time, and publishes without one", async () => {
  const identity = await platform.identity(team, "editor");
  const editor = await platform.token(identity);
  const answer = await publish("edited", "1.0.0", OLD, editor);
  assert.equal(answer.status, 403);
  assert.match(String(answer.body["error"]), /lacks CAP_TAG_IMPORT for acme\/team/);
  const body = publishDocument("edited", "1.0.0");
  assert.equal((await platform.call("PUT", npmPath(GROUP, "edited"), { token: editor, body })).status, 201);
});
