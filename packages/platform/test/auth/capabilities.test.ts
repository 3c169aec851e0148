import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CapabilitiesService, Capability } from "@moorage/api";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What a caller may do on a resource. Source: iam/v2/capabilities.proto.
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const METHOD = CapabilitiesService.method.testCapabilities;
async function held(uid: string, token: string, capabilities: Capability[] = []): Promise<string[]> {
  const answer = await both(platform, METHOD, { uid, capabilities }, token);
  assert.equal(answer.status, 200, answer.text);
  return answer.body["capabilities"] as string[];
}

test("a viewer holds what its role has, on the group and below it, and nothing beside it", async () => {
  const [mine, other] = [await platform.group(platform.organization), await platform.group(platform.organization)];
  const token = await platform.token(await platform.identity(mine.uid, "viewer"));
  const repo = await platform.repo(mine.uid);
  const all = await held(mine.uid, token);
  assert.ok(all.includes("CAP_TAG_LIST") && !all.includes("CAP_TAG_UPDATE"), all.join());
  assert.deepEqual(await held(repo.uid, token), all);
  assert.deepEqual(await held(repo.uid, token, [Capability.CAP_TAG_UPDATE, Capability.CAP_TAG_LIST]), ["CAP_TAG_LIST"]);
  assert.deepEqual(await held(other.uid, token), []);
  assert.deepEqual(await held(platform.organization, token), []);
});

test("without a token nothing is answered", async () => {
  assert.equal((await both(platform, METHOD, { uid: platform.organization })).status, 401);
});
