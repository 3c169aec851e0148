// An answer to the same request again, from the response cache where there is one, is never out of date.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy } from "../../../server/test/support/policies.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
});
after(() => platform.close());

const PATH = npmPath("acme", "asked");
const asked = (headers: Record<string, string> = {}): Promise<Answer> => platform.call("GET", PATH, { token, headers });
const versionsIn = ({ text }: Answer): string[] => Object.keys((JSON.parse(text) as { versions: object }).versions);

test("a package is the same again until a version is published, and then has it", async () => {
  await publishNpm(platform, "acme", "asked", "1.0.0");
  const [first, second] = [await asked(), await asked()];
  assert.deepEqual(
    [versionsIn(second), second.headers],
    [["1.0.0"], { ...second.headers, etag: first.headers["etag"] }],
  );
  assert.equal(second.text, first.text);
  const etag = String(first.headers["etag"]);
  assert.equal((await asked({ "if-none-match": etag })).status, 304);
  await publishNpm(platform, "acme", "asked", "1.1.0");
  const changed = await asked({ "if-none-match": etag });
  assert.deepEqual([changed.status, versionsIn(changed)], [200, ["1.0.0", "1.1.0"]]);
});

test("each form is an answer of its own", async () => {
  const full = await asked({ accept: "application/json" });
  const short = await asked({ accept: "application/vnd.npm.install-v1+json" });
  assert.notEqual(short.headers["etag"], full.headers["etag"]);
  assert.equal((await asked({ accept: "application/json" })).text, full.text);
});

test("a file is whole again after a part of it was asked for", async () => {
  const path = `${PATH}/-/asked-1.0.0.tgz`;
  const get = (headers: Record<string, string> = {}): Promise<Answer> => platform.call("GET", path, { token, headers });
  const [whole, part, again] = [await get(), await get({ range: "bytes=0-9" }), await get()];
  assert.deepEqual([whole.status, part.status, again.status], [200, 206, 200]);
  assert.deepEqual(
    [part.headers["content-length"], again.headers["content-length"]],
    ["10", whole.headers["content-length"]],
  );
  assert.equal(again.text, whole.text);
});

test("whoever may not see a package is not answered with what somebody else was", async () => {
  await asked();
  const answer = await platform.call("GET", PATH, {});
  assert.equal(answer.status, 401);
});

test("a file that was cached is refused when a policy blocks it", async () => {
  const get = (): Promise<Answer> => platform.call("GET", `${PATH}/-/asked-1.0.0.tgz`, { token });
  for (let time = 0; time < 3; time += 1) assert.equal((await get()).status, 200);
  const { uid } = await newPolicy(platform, platform.organization, { blockedPurls: ["pkg:npm/asked@1.0.0"] });
  assert.equal((await get()).status, 403);
  await platform.ok("DELETE", `/libraries/v2/artifactPolicies/${uid}`);
  assert.equal((await get()).status, 200);
});
