import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushIndex } from "../../../server/test/support/catalog/push.ts";
import { BAD, openGatedRepo, putGateRecords, SEVERE } from "../../../server/test/support/gated-repo.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Where findings are: the tags that point to the image, and the platform that it is for.

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
});
after(() => platform.close());

interface Finding {
  vulnerability: string;
  platform: string;
  tags: string[];
  tagsTotal: number;
}
const findings = (repo: string, digest: string): Promise<Record<string, unknown>> =>
  platform.ok("GET", `/vulnerabilities/v2/findings?repo=${repo}&digest=${digest}`);
const tagsOf = async (repo: string, query: string): Promise<string[]> => {
  const answer = await platform.ok("GET", `/registry/v2/tags?uidp.childrenOf=${repo}&pageSize=200&${query}`);
  return (answer["tags"] as { name: string }[]).map(({ name }) => name);
};

test("of many tags those that moved last are named, all are counted, and a list has all", async () => {
  const { repo, push } = await openGatedRepo(platform);
  const digest = await push("a", BAD);
  for (let n = 10; n < 70; n += 1) await platform.ok("POST", `/registry/v2/tags/${repo}`, { name: `t${n}`, digest });
  platform.clock.offsetMs += 1_000;
  await platform.ok("POST", `/registry/v2/tags/${repo}`, { name: "latest", digest });
  const [finding] = (await findings(repo, digest))["findings"] as Finding[];
  assert.deepEqual([finding?.tags[0], finding?.tags.length, finding?.tagsTotal], ["latest", 50, 62]);
  assert.equal(finding?.tags.includes("a"), false, "it moved first");
  const all = await tagsOf(repo, `image=${digest}&orderBy=update_time%20desc`);
  assert.deepEqual([all.length, all[0]], [62, "latest"]);
});

test("findings name their platform, and a gate names a vulnerability once with its platforms", async () => {
  const gated = await openGatedRepo(platform, { on: ["PULL"], mode: "ENFORCE" });
  const images = [await gated.push("amd", BAD), await gated.push("arm", BAD, SEVERE)];
  const index = await pushIndex(
    gated,
    "both",
    images.map((digest, at) => [digest, { os: "linux", architecture: at === 0 ? "amd64" : "arm64" }]),
  );
  const answer = await findings(gated.repo, index);
  assert.deepEqual(answer["platforms"], ["linux/amd64", "linux/arm64"]);
  const places = (answer["findings"] as Finding[]).map((each) => `${each.vulnerability} ${each.platform}`);
  assert.deepEqual(places.sort(), ["CVE-2026-1 linux/amd64", "CVE-2026-1 linux/arm64", "CVE-2026-3 linux/arm64"]);
  assert.deepEqual((await tagsOf(gated.repo, `image=${images[0]}`)).sort(), ["amd", "both"]);
  platform.clock.offsetMs += 2_000;
  const { status, text } = await gated.pull("both");
  assert.equal(status, 403, text);
  const message = String((JSON.parse(text) as { errors: { message: string }[] }).errors[0]?.message);
  assert.match(message, /has 2 findings/);
  assert.match(message, /CVE-2026-1 [^;]* in pkg:npm\/bad@1\.0\.0 on linux\/amd64, linux\/arm64, /);
  assert.match(message, /CVE-2026-3 [^;]* on linux\/arm64, /);
  assert.equal(message.match(/CVE-2026-1 /g)?.length, 1);
});
