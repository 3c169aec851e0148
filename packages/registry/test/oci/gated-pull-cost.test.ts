import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BAD, CLEAN, type GatedRepo, openGatedRepo, putGateRecords } from "../../../server/test/support/gated-repo.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { statementsRun } from "../../../server/test/support/statements.ts";

// What a gate costs a pull: nothing where there is none, and with one at most a statement for each manifest that is
// looked at, as long as nothing changes.

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  await putGateRecords(platform);
});
after(() => platform.close());

/** The statements of this pull: those about tags, manifests, and what a gate reads. */
async function texts(repo: GatedRepo, reference: string): Promise<string[]> {
  const ran = await statementsRun(() => repo.pull(reference));
  return ran
    .map(({ text }) => text)
    .filter((text) => /advisories0|tag_policy|package_findings|image_packages/.test(text));
}

test("a pull from a repo without a gate reads nothing more", async () => {
  const repo = await openGatedRepo(platform);
  await repo.push("v1", BAD);
  await platform.ok("PATCH", `/registry/v2/repos/${repo.repo}`, { tagPolicy: { immutableTags: ["v.*"] } });
  const [read, ...more] = await texts(repo, "v1");
  assert.match(read ?? "", /^select m\.digest/);
  assert.deepEqual(more, []);
});

test("a pull from a repo with a gate reads the findings only when they may have changed", async () => {
  const repo = await openGatedRepo(platform, { on: ["PULL"], kev: true, mode: "ENFORCE" });
  for (const tag of ["bad", "clean"]) await repo.push(tag, tag === "bad" ? BAD : CLEAN);
  for (const [tag, status] of [
    ["bad", 403],
    ["clean", 200],
  ] as const) {
    assert.equal((await repo.pull(tag)).status, status);
    const { offsetMs } = platform.clock;
    for (let n = 1; n <= 3; n += 1) {
      platform.clock.offsetMs = offsetMs + n * 2_000;
      const ran = await texts(repo, tag);
      assert.equal(ran.filter((text) => /package_findings|image_packages/.test(text)).length, 0, ran.join("\n"));
      assert.equal(ran.filter((text) => text.includes("advisories0")).length, 1, ran.join("\n"));
    }
  }
});
