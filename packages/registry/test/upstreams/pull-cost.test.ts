import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";

// What groups that stand for registries cost pulls and pushes of others: nothing where there is none.

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

/** The statements about upstreams of pulls by tag and by digest, of a blob, and of the beginning of a push. */
async function aboutUpstreams(digest: string, blob: string): Promise<string[]> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const ran = await statementsRun(async () => {
    for (const path of ["manifests/v1", `manifests/${digest}`, `blobs/${blob}`]) {
      const { status } = await platform.call("GET", `/v2/acme/app/${path}`, { token });
      assert.equal(status, 200, path);
    }
    assert.equal((await platform.call("POST", "/v2/acme/app/blobs/uploads/", { token })).status, 202);
  });
  assert.ok(ran.length > 0);
  return ran
    .map(({ text }) => text)
    .filter((text) => /from (?:registry_upstreams|upstream_repos)\b(?! where parent > '' limit 1)/.test(text));
}

test("without a group that stands for a registry, pulls and pushes read nothing about it", async () => {
  const digest = await pushImage(platform, "acme/app", "v1");
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const manifest = await platform.call("GET", `/v2/acme/app/manifests/${digest}`, { token });
  const blob = (manifest.body["config"] as { digest: string }).digest;
  await platform.ok("PATCH", `/iam/v2/groups/${platform.organization}`, { description: "so that nothing is cached" });
  assert.deepEqual(await aboutUpstreams(digest, blob), []);
  // With one it is read whether the repo came from there, so that what is counted above is what would be seen.
  const { uid } = await platform.group(platform.organization, { name: "hub" });
  await platform.ok("POST", `/registry/v2/upstreams/${uid}`, { registry: "docker.io", disabled: true });
  assert.ok((await aboutUpstreams(digest, blob)).length > 0);
});
