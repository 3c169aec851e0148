// Policies of signatures at promotions, in decisions, previews and explanations: one judgment for all.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { newPolicy, openSignedRepo } from "../../../server/test/support/signed-repo.ts";
import { newKey, newSigner } from "../../../server/test/support/signing.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";

let platform: Platform;
const key = newKey();
let signer = "";

before(async () => {
  platform = await startPlatform();
  signer = await newSigner(platform, platform.organization, "release", [key]);
});
after(() => platform.close());

const promote = async (repo: string, name: string, digest: string): Promise<Answer> =>
  await platform.call("POST", `/registry/v2/tags/${repo}:promote`, {
    token: await platform.token(),
    body: { promotions: [{ name, digest }] },
  });

interface Decision extends Json {
  held: boolean;
  waiting: boolean;
  message: string;
  policies: {
    policy: string;
    outcome: string;
    mode: string;
    reason: string;
    rules: { found: number; outcome: string }[];
  }[];
}

const decide = (repo: string, digest: string, query = ""): Promise<Decision> =>
  platform.ok<Decision>("GET", `/registry/v2/repos/${repo}/digests/${digest}/signatureDecision${query}`);

test("a promotion of what is not signed is rejected with its policy, and passes once it is signed", async () => {
  const repo = await openSignedRepo(platform);
  const digest = await repo.push("dev");
  await newPolicy(platform, repo.group, { name: "release", rules: [{ signers: [signer] }], tagPattern: "v.*" });
  // The push is never judged, and the tag is not meant.
  assert.equal((await repo.pull("dev")).status, 200);
  const rejected = await promote(repo.repo, "v1", digest);
  assert.equal(rejected.status, 400);
  assert.match(rejected.text, /SIGNATURE_POLICY/);
  assert.match(rejected.text, /tag v1: sha256:[0-9a-f]+ is not signed as policy release/);
  assert.equal((await promote(repo.repo, "other", digest)).status, 200);
  const asked = await decide(repo.repo, digest, "?tag=v1&action=PROMOTE");
  assert.deepEqual(
    [asked.held, asked.waiting, asked.policies[0]?.outcome],
    [true, false, "SIGNATURE_OUTCOME_UNSIGNED"],
  );
  assert.equal((await decide(repo.repo, digest)).policies[0]?.outcome, "SIGNATURE_OUTCOME_NOT_COVERED");
  await repo.sign(digest, key);
  assert.equal((await promote(repo.repo, "v1", digest)).status, 200);
  const signed = await decide(repo.repo, digest);
  assert.deepEqual(
    [signed.held, signed.message, signed.policies[0]?.outcome, signed.policies[0]?.rules[0]?.found],
    [false, "", "SIGNATURE_OUTCOME_SIGNED", 1],
  );
});

test("what would have been blocked is an event, once a day for an image and an action", async () => {
  const repo = await openSignedRepo(platform);
  const digest = await repo.push("v1");
  await newPolicy(platform, repo.group, { name: "soon", rules: [{ signers: [signer] }], mode: "GATE_MODE_PREVIEW" });
  for (let times = 0; times < 3; times += 1) assert.equal((await repo.pull("v1")).status, 200);
  assert.equal((await promote(repo.repo, "v2", digest)).status, 200);
  const events = async () =>
    (
      await platform.transact(async (tx) => [
        ...(await tx.selectFrom("events").selectAll().where("subject", "=", repo.repo).execute()),
        ...(await tx.selectFrom("event_outbox").selectAll().where("subject", "=", repo.repo).execute()),
      ])
    ).filter(({ type }) => type.startsWith("registry.signature_gate."));
  await eventually(async () => (await events()).length >= 2, { instead: events });
  const found = (await events()).map(({ type, body }) => ({ type, ...(JSON.parse(body) as { action: string }) }));
  assert.deepEqual(found.map(({ type, action }) => [type, action]).sort(), [
    ["registry.signature_gate.previewed.v1", "promote"],
    ["registry.signature_gate.previewed.v1", "pull"],
  ]);
  const [{ policies } = {}] = found as { policies?: { name: string; outcome: string }[] }[];
  assert.deepEqual([policies?.[0]?.name, policies?.[0]?.outcome], ["soon", "UNSIGNED"]);
});

test("a draft is previewed page by page, with how many pass and why", async () => {
  const repo = await openSignedRepo(platform);
  const digest = await repo.push("v1");
  await repo.sign(digest, key);
  for (const tag of ["v2", "v3", "v4"]) await repo.push(tag);
  const draft = { rules: [{ name: "image", signers: [signer] }], tagPattern: "v.*" };
  const preview = (fields: object): Promise<Json> =>
    platform.ok("POST", `/registry/v2/signaturePolicies/${repo.group}:preview`, { signaturePolicy: draft, ...fields });
  const whole = await preview({});
  const tagsIn = (page: Json): string[] => (page["tags"] as { tag: string }[]).map(({ tag }) => tag);
  assert.deepEqual(tagsIn(whole), ["v2", "v3", "v4"]);
  assert.equal(whole["lookedAt"], 5);
  assert.deepEqual(whole["passed"], [
    { outcome: "SIGNATURE_OUTCOME_DOCUMENT", count: 1 },
    { outcome: "SIGNATURE_OUTCOME_SIGNED", count: 1 },
  ]);
  const pages: string[][] = [];
  for (let pageToken = ""; ;) {
    const page = await preview({ pageSize: 2, pageToken });
    pages.push(tagsIn(page));
    pageToken = String(page["nextPageToken"]);
    if (pageToken === "") break;
  }
  assert.deepEqual(pages.flat(), ["v2", "v3", "v4"]);
  // Nothing is stored of it.
  assert.equal((await repo.pull("v2")).status, 200);
});

test("access:explain says what the pull does, and who signs is answered", async () => {
  const repo = await openSignedRepo(platform);
  await repo.push("v1");
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
  for (const [role, status] of [
    ["viewer", 403],
    ["registry.pull", 403],
    ["registry.push", 200],
    ["editor", 200],
    ["owner", 200],
  ] as const) {
    const identity = await platform.identity(repo.group, role);
    assert.equal((await repo.pullAs(identity, "v1")).status, status, role);
    const said = await platform.ok("POST", "/iam/v2/access:explain", {
      identity,
      action: "REGISTRY_ACTION_PULL",
      resource: `${repo.name}:v1`,
    });
    assert.equal(said["allowed"], status === 200, role);
    const step = (said["steps"] as { kind: string; message: string }[]).find(({ kind }) => kind === "KIND_SIGNATURE");
    assert.match(
      step?.message ?? "",
      status === 200 ? /unsigned\.read lets the caller pull/ : /is not signed as policy/,
    );
    if (status === 403) assert.equal(said["reason"], "ACCESS_REASON_SIGNATURE");
    // A token that is narrowed away from it is as good as none.
    if (role !== "owner") continue;
    const narrowed = await platform.ok("POST", "/iam/v2/access:explain", {
      identity,
      action: "REGISTRY_ACTION_PULL",
      resource: `${repo.name}:v1`,
      capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST", "CAP_TAG_LIST", "CAP_REPO_BLOBS_GET", "CAP_IAM_GROUPS_LIST"],
    });
    assert.equal(narrowed["reason"], "ACCESS_REASON_SIGNATURE", JSON.stringify(narrowed));
  }
});

test("a signer that a policy names stays, and what this version would not judge is rejected", async () => {
  const repo = await openSignedRepo(platform);
  const own = await newSigner(platform, repo.group, "own", [newKey()]);
  const policy = await newPolicy(platform, repo.group, { rules: [{ signers: [own] }] });
  const kept = await platform.call("DELETE", `/registry/v2/signers/${own}`, { token: await platform.token() });
  assert.match(kept.text, /RESOURCE_IN_USE/);
  await platform.ok("DELETE", `/registry/v2/signaturePolicies/${policy}`);
  await platform.ok("DELETE", `/registry/v2/signers/${own}`);
  const create = async (group: string, fields: object): Promise<Answer> =>
    await platform.call("POST", `/registry/v2/signaturePolicies/${group}`, {
      token: await platform.token(),
      body: { name: "p", on: ["PULL"], rules: [{ name: "r", signers: [signer] }], ...fields },
    });
  for (const [fields, field] of [
    [{ on: ["PROMOTE"], holdTags: true }, "holdTags"],
    [{ documentSigners: [own] }, "documentSigners[0]"],
    [{ documentSigners: [signer], tagPattern: "v.*" }, "documentSigners"],
    [{ rules: [{ name: "r", signers: [signer], provenance: {} }] }, "rules[0].provenance"],
    [{ rules: [{ name: "r", signers: [own] }] }, "rules[0].signers[0]"],
    [{ rules: [] }, "rules"],
    [{ on: [] }, "on"],
    [{ tagPattern: "(" }, "tagPattern"],
  ] as const) {
    const answer = await create(repo.group, fields);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.text.includes(field), `${field}: ${answer.text}`);
  }
  // A signer of a group below verifies nothing above it.
  const below = await newSigner(platform, repo.group, "below", [newKey()]);
  assert.equal((await create(platform.organization, { rules: [{ name: "r", signers: [below] }] })).status, 400);
});

test("a pull costs nothing without policies, and one statement more under one, as long as nothing changes", async () => {
  const repo = await openSignedRepo(platform);
  const digest = await repo.push("v1");
  // Each time somebody else pulls, whose answer is not in the response cache.
  const reading = async (): Promise<string[]> => {
    const identity = await platform.identity(repo.group, "viewer");
    return (await statementsRun(() => repo.pullAs(identity, "v1")))
      .map(({ text }) => text)
      .filter((text) => /signature|from s |signers/.test(text));
  };
  await newPolicy(platform, repo.group, { rules: [{ signers: [signer] }] });
  await repo.sign(digest, key);
  assert.equal((await repo.pull("v1")).status, 200);
  for (let times = 0; times < 3; times += 1) {
    const ran = await reading();
    assert.equal(ran.length, 2, ran.join("\n"));
    assert.match(ran[0] ?? "", /^select m\.digest/);
    assert.match(ran[1] ?? "", /as subjects/);
  }
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  await pushLayers({ ...repo, token }, "v2", [Buffer.from("another one")]);
  assert.equal((await reading()).length, 2);
});
