import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FindingSeverity } from "@moorage/api/messages";
import { judgePromotion, readAhead } from "../../src/security/index.ts";
import { pushIndex } from "../../../server/test/support/catalog/push.ts";
import {
  BAD,
  CLEAN,
  type GatedRepo,
  MILD,
  openGatedRepo,
  putGateRecords,
} from "../../../server/test/support/gated-repo.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { unmet } from "../../../server/test/support/tagged-repo.ts";

const PROMOTE = { on: ["PROMOTE"], kev: true, mode: "ENFORCE" };

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
});
after(() => platform.close());

const open = (gate?: object): Promise<GatedRepo> => openGatedRepo(platform, gate);
const call = async (path: string, body: object): Promise<Answer> =>
  platform.call("POST", `/registry/v2/tags/${path}`, { token: await platform.token(), body });
const promote = (repo: GatedRepo, promotions: object[], validateOnly = false): Promise<Answer> =>
  call(`${repo.repo}:promote`, { promotions, validateOnly });
const rollback = (repo: GatedRepo, rollbacks: object[]): Promise<Answer> =>
  call(`${repo.repo}:rollback`, { rollbacks });
const tags = async ({ repo }: GatedRepo): Promise<Record<string, string>> => {
  const found = (await platform.ok("GET", `/registry/v2/tags?uidp.children_of=${repo}`))["tags"];
  return Object.fromEntries((found as { name: string; digest: string }[]).map(({ name, digest }) => [name, digest]));
};
const GATED = (tag: string): [number, string[]] => [400, [`VULNERABILITY_GATE ${tag}`]];
const result = (answer: Answer): [number, string[]] => [answer.status, answer.status === 200 ? [] : unmet(answer)];

test("the API makes no tag point to an image that the gate does not let pass, and moves none of the others", async () => {
  const repo = await open();
  const bad = await repo.push("bad", BAD);
  const good = await repo.push("good", CLEAN, MILD);
  await repo.gate(PROMOTE);
  const answer = await promote(repo, [
    { name: "stable", fromTag: "good" },
    { name: "prod", fromTag: "bad" },
    { name: "next", digest: bad },
  ]);
  assert.deepEqual([answer.status, unmet(answer)], [400, ["VULNERABILITY_GATE prod", "VULNERABILITY_GATE next"]]);
  assert.match(
    answer.body.message,
    /Precondition failed: tag prod: sha256:\w+ has 1 finding [^]*CVE-2026-1[^]*advisory/,
  );
  assert.deepEqual(result(await promote(repo, [{ name: "prod", digest: bad }], true)), GATED("prod"));
  assert.deepEqual(result(await call(repo.repo, { name: "prod", digest: bad })), GATED("prod"));
  assert.deepEqual(await tags(repo), { bad, good });
  assert.deepEqual(result(await promote(repo, [{ name: "stable", fromTag: "good" }])), [200, []]);
  assert.deepEqual(result(await promote(repo, [{ name: "bad", digest: bad }])), [200, []], "it points there already");
  const missing = { name: "prod", digest: `sha256:${"1".repeat(64)}` };
  assert.deepEqual(result(await call(repo.repo, missing)), GATED("prod"), "nobody knows what that will hold");
  await repo.gate({ ...PROMOTE, onUnknown: "PASS" });
  assert.deepEqual(result(await call(repo.repo, missing)), [200, []]);
  assert.equal((await repo.pull("bad")).status, 200, "the gate is not for pulls");
  await repo.gate({ ...PROMOTE, on: ["PULL"] });
  assert.deepEqual(result(await promote(repo, [{ name: "prod", digest: bad }])), [200, []]);
});

test("a tag is not rolled back to such an image", async () => {
  const repo = await open();
  const bad = await repo.push("v1", BAD);
  const good = await repo.push("v1", CLEAN);
  await repo.gate(PROMOTE);
  assert.deepEqual(result(await rollback(repo, [{ name: "v1" }])), GATED("v1"));
  assert.deepEqual(await tags(repo), { v1: good });
  await repo.gate(undefined);
  assert.deepEqual(result(await rollback(repo, [{ name: "v1" }])), [200, []]);
  assert.deepEqual(await tags(repo), { v1: bad });
});

test("of an index all images count", async () => {
  const repo = await open();
  const bad = await repo.push("bad", BAD);
  const good = await repo.push("good", CLEAN);
  const index = await pushIndex(repo, "index", [
    [good, { os: "linux", architecture: "amd64" }],
    [bad, { os: "linux", architecture: "arm64" }],
  ]);
  await repo.gate(PROMOTE);
  assert.deepEqual(result(await promote(repo, [{ name: "prod", digest: index }])), GATED("prod"));
  assert.deepEqual(result(await promote(repo, [{ name: "prod", digest: good }])), [200, []]);
});

test("a push is not rejected, whatever the image holds", async () => {
  const repo = await open({ ...PROMOTE, on: ["PULL", "PROMOTE"] });
  const bad = await repo.push("v1", BAD);
  assert.equal(await repo.push("v1", BAD).then((digest) => digest !== bad), true);
  assert.equal((await repo.pull("v1")).status, 403);
});

test("a preview promotes, with an event for each image; a dry run has none", async () => {
  const repo = await open();
  const bad = await repo.push("bad", BAD);
  await repo.gate({ ...PROMOTE, mode: "PREVIEW" });
  assert.deepEqual(result(await promote(repo, [{ name: "prod", digest: bad }], true)), [200, []]);
  assert.deepEqual(await repo.events(), []);
  const names = ["prod", "stable"].map((name) => ({ name, digest: bad }));
  assert.deepEqual(result(await promote(repo, names)), [200, []]);
  assert.deepEqual(result(await call(repo.repo, { name: "set", digest: bad })), [200, []]);
  const [event, ...more] = await repo.events();
  assert.deepEqual(more, []);
  assert.equal(event?.type, "registry.gate.previewed.v1");
  assert.equal(event?.actor, platform.owner);
  const { tag, digest, action, count } = event?.body ?? {};
  assert.deepEqual({ tag, digest, action, count }, { tag: "prod", digest: bad, action: "promote", count: 1 });
});

test("what was found before the transaction counts only as long as nothing has changed since", async () => {
  const repo = await open();
  const digest = await repo.push("bad", BAD);
  await repo.gate(PROMOTE);
  assert.deepEqual(result(await promote(repo, [{ name: "prod", digest }])), GATED("prod"));
  const rules = {
    severity: FindingSeverity.UNSPECIFIED,
    fixableOnly: false,
    exploitedOnly: true,
    graceMs: 0,
    holdsUnknown: true,
  };
  const [tx, nowMs] = [platform.reader, platform.clock.nowMs()];
  const found = await readAhead({ tx, nowMs, requireCaller: () => {} }, repo.repo, [{ digest, rules }]);
  assert.equal(Object.values(found)[0]?.counted.count, 1);
  // If it had been nothing, this would be used as it is.
  const ahead = Object.fromEntries(
    Object.entries(found).map(([key, { state, counted }]) => [key, { state, counted: { ...counted, count: 0 } }]),
  );
  const judge = (): ReturnType<typeof judgePromotion> =>
    judgePromotion({ tx, ahead }, { repo: repo.repo, digest }, rules, nowMs);
  assert.equal(await judge(), undefined);
  await platform.ok("POST", `/vulnerabilities/v2/advisories/${platform.organization}`, {
    artifactName: "another",
    artifactType: "NPM",
    aliases: ["CVE-2026-77"],
  });
  const verdict = await judge();
  assert.deepEqual([verdict?.holds, verdict?.count], [true, 1]);
});
