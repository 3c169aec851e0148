// Tags that policies of signatures hold: who may only pull gets what they pointed to before.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deleteReference } from "../../../server/test/support/catalog/push.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo, type SignedRepo } from "../../../server/test/support/signed-repo.ts";
import { newKey, newSigner } from "../../../server/test/support/signing.ts";

let platform: Platform;
const key = newKey();
let signer = "";

before(async () => {
  platform = await startPlatform();
  signer = await newSigner(platform, platform.organization, "release", [key]);
});
after(() => platform.close());

const open = async (fields: object = {}): Promise<SignedRepo & { policy: string }> => {
  const repo = await openSignedRepo(platform);
  const policy = await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }], holdTags: true, ...fields });
  return { ...repo, policy };
};

/** What a pull of the tag is answered with: a digest, or the status. Explanation and decision say the same. */
async function answered(repo: SignedRepo, tag: string, current: string): Promise<string> {
  const identity = await platform.identity(repo.group, "viewer");
  const { status, headers } = await repo.pullAs(identity, tag);
  const head = await repo.pullAs(identity, tag, "HEAD");
  assert.deepEqual([head.status, head.headers["docker-content-digest"]], [status, headers["docker-content-digest"]]);
  const question = { identity, action: "REGISTRY_ACTION_PULL", resource: `${repo.name}:${tag}` };
  const said: Json = await platform.ok("POST", "/iam/v2/access:explain", question);
  assert.equal(said["allowed"], status === 200, JSON.stringify(said));
  const path = `/registry/v2/repos/${repo.repo}/digests/${current}/signatureDecision?tag=${tag}`;
  const decision: Json = await platform.ok("GET", path);
  const digest = String(headers["docker-content-digest"]);
  assert.equal(decision["answeredInstead"], status === 200 && digest !== current ? digest : "");
  if (status === 200 && digest !== current)
    assert.match(String(headers["warning"]), new RegExp(`^299 - "tag ${tag} is answered as ${digest}.*not signed as`));
  return status === 200 ? digest : String(status);
}

test("others get the last digest that passes, and the new one once it is signed", async () => {
  const repo = await open();
  const first = await repo.push("v1");
  await repo.sign(first, key);
  const second = await repo.push("v1");
  const third = await repo.push("v1");
  assert.equal(await answered(repo, "v1", third), first);
  // By its digest it is what it is, and who signs sees what the tag points to.
  assert.equal((await repo.pull(third)).status, 403);
  const pushers = await platform.identity(repo.group, "registry.push");
  assert.equal((await repo.pullAs(pushers, "v1")).headers["docker-content-digest"], third);
  await repo.sign(second, key);
  assert.equal(await answered(repo, "v1", third), second);
  await repo.sign(third, key);
  assert.equal(await answered(repo, "v1", third), third);
});

test("nothing is answered instead: no earlier one passes, it was deleted, or another policy holds no tags", async () => {
  const repo = await open();
  const first = await repo.push("v1");
  assert.equal(await answered(repo, "v1", first), "403");
  await repo.sign(first, key);
  const second = await repo.push("v1");
  assert.equal(await answered(repo, "v1", second), first);
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
  assert.equal(await answered(repo, "v1", second), "403");
  const other = await open();
  await other.sign(await other.push("v1"), key);
  await deleteReference(other, "v1");
  assert.equal(await answered(other, "v1", await other.push("v1")), "403");
});

test("an earlier digest counts up to 20 records back", async () => {
  const repo = await open();
  const first = await repo.push("v1");
  await repo.sign(first, key);
  let last = "";
  for (let at = 0; at < 20; at += 1) last = await repo.push("v1");
  assert.equal(await answered(repo, "v1", last), first);
  last = await repo.push("v1");
  assert.equal(await answered(repo, "v1", last), "403");
});

test("a policy in preview holds no tag", async () => {
  const repo = await open({ mode: "GATE_MODE_PREVIEW" });
  await repo.sign(await repo.push("v1"), key);
  const second = await repo.push("v1");
  assert.equal(await answered(repo, "v1", second), second);
});
