import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BAD, CLEAN, type GatedRepo, openGatedRepo, putGateRecords } from "../../../server/test/support/gated-repo.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

let platform: Platform;
let repo: GatedRepo;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
  repo = await openGatedRepo(platform);
});
after(() => platform?.close());

test("a vulnerability gate: it is the reason exactly when it blocks the pull", async () => {
  await repo.push("bad", BAD);
  await repo.push("clean", CLEAN);
  const identity = await platform.identity(platform.organization, "viewer");
  const explain = (subject: object, reference: string, action = "PULL"): Promise<Json> =>
    platform.ok("POST", "/iam/v2/access:explain", {
      ...subject,
      action: `REGISTRY_ACTION_${action}`,
      resource: `${repo.name}:${reference}`,
    });
  const gates = ({ steps }: Json): unknown[] =>
    (steps as { kind: string; outcome: string }[])
      .filter(({ kind }) => kind === "KIND_GATE")
      .map((step) => step.outcome);
  for (const [gate, tag, status] of [
    [undefined, "bad", 200],
    [{ on: ["PULL"], kev: true, mode: "ENFORCE" }, "bad", 403],
    [{ on: ["PULL"], kev: true, mode: "ENFORCE" }, "clean", 200],
    [{ on: ["PULL"], kev: true, mode: "PREVIEW" }, "bad", 200],
    [{ on: ["PROMOTE"], kev: true, mode: "ENFORCE" }, "bad", 200],
  ] as const) {
    await repo.gate(gate);
    const said = await explain({ identity }, tag);
    await repo.pulledAs(tag, status);
    assert.equal(said["allowed"], status === 200, `${JSON.stringify(gate)} ${tag}: ${JSON.stringify(said)}`);
    const expected = gate?.on[0] === "PULL" ? [status === 200 ? "OUTCOME_PASSED" : "OUTCOME_FAILED"] : [];
    assert.deepEqual(gates(said), expected);
    if (status === 200) continue;
    assert.equal(said["reason"], "ACCESS_REASON_GATE_REJECTS");
    assert.match(said.message, /CVE-2026-1/);
    assert.match(String((said["remedies"] as Json[])[0]?.message), /fixed/);
    assert.deepEqual(said["missing"], []);
    // It judges pulls alone, and of those who may pull.
    assert.equal((await explain({ identity: platform.owner }, tag, "PUSH"))["allowed"], true);
    const stranger = await explain({ identity: await platform.identity(platform.organization) }, tag);
    assert.deepEqual([stranger["reason"], gates(stranger)], ["ACCESS_REASON_CAPABILITY_MISSING", []]);
  }
});
