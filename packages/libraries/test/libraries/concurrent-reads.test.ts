// Requests that arrive together share statements on PostgreSQL: each gets what is its own.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { npmPath, publishNpm, tarballOf } from "../../../server/test/support/npm.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy } from "../../../server/test/support/policies.ts";

let platform: Platform;
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
});
after(() => platform.close());

const VERSIONS = ["1.0.0", "2.0.0"];
const ROUNDS = 10;

test("each of many requests at the same time gets its own group's file, judged by its own group's policy", async () => {
  const group = async (name: string, parent = platform.organization): Promise<string> =>
    (await platform.group(parent, { name })).uid;
  const strict = await group("strict");
  await group("below", strict);
  const other = await group("other");
  await group("open");
  await newPolicy(platform, strict, { cooldown: "0s", blockedPurls: ["pkg:npm/same@1.0.0"] });
  await newPolicy(platform, other, { cooldown: "0s", blockedPurls: ["pkg:npm/same@2.0.0"] });
  const blockedIn: Record<string, string> = {
    "acme/strict": "1.0.0",
    // By the policy of the group above.
    "acme/strict/below": "1.0.0",
    "acme/other": "2.0.0",
    "acme/open": "none",
  };
  const files = new Map<string, Buffer>();
  for (const path of Object.keys(blockedIn))
    for (const version of VERSIONS) {
      const tarball = tarballOf({ name: "same", version, description: path });
      const answer = await publishNpm(platform, path, "same", version, { tarball });
      assert.equal(answer.status, 201, answer.text);
      files.set(`${path} ${version}`, tarball);
    }
  const asked = Array.from({ length: ROUNDS }, () => [...files.keys()]).flat();
  const ask = (path: string): Promise<Response> =>
    fetch(`${platform.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  await Promise.all(
    asked.map(async (key) => {
      const [path = "", version = ""] = key.split(" ");
      const [file, document] = await Promise.all([
        ask(`/npm/${path}/same/-/same-${version}.tgz`),
        ask(`${npmPath(path, "same")}/${version}`),
      ]);
      const isBlocked = blockedIn[path] === version;
      assert.deepEqual([file.status, document.status], isBlocked ? [403, 403] : [200, 200], key);
      const [bytes, text] = [Buffer.from(await file.arrayBuffer()), await document.text()];
      if (isBlocked) return;
      assert.deepEqual(bytes, files.get(key), key);
      const { version: found, dist } = JSON.parse(text) as { version: string; dist: { tarball: string } };
      assert.deepEqual([found, dist.tarball], [version, `${platform.url}/npm/${path}/same/-/same-${version}.tgz`]);
    }),
  );
});
