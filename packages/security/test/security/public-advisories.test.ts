import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { SecurityAdvisoryService } from "@moorage/api";
import { newAdvisory } from "../../../server/test/support/advisories.ts";
import { DOCUMENTS, importFeeds, METADATA, osvArchive } from "../../../server/test/support/vulnerability-lists.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";

const { listDocuments, listVulnerabilityMetadata } = SecurityAdvisoryService.method;
const AFFECTED = [{ package: { ecosystem: "PyPI", name: "app" }, versions: ["1"] }];

/** An installation with a feed of one record, and an advisory of a group. */
async function withBoth(t: TestContext, env: Record<string, string>): Promise<Platform> {
  const platform = await startPlatform(env);
  t.after(() => platform.close());
  const content = osvArchive([{ id: "PYSEC-2026-1", affected: AFFECTED }]);
  await importFeeds(platform, { osv: { file: "osv.zip", content } });
  await newAdvisory(platform, platform.organization, {
    artifactName: "secret",
    aliases: ["PYSEC-2026-1", "ACME-1"],
    severities: [{ type: "TYPE_CVSS_V2", score: "AV:N/AC:L/Au:N/C:C/I:C/A:C" }],
    events: [{ detection: { manual: {} }, reviewState: "APPROVED" }],
  });
  return platform;
}

test("without a token nothing is answered", async (t) => {
  const platform = await withBoth(t, {});
  for (const answer of [await both(platform, listDocuments, {}), await both(platform, listVulnerabilityMetadata, {})]) {
    assert.equal(answer.status, 401);
    assert.match(answer.headers["www-authenticate"] ?? "", /^Bearer/);
  }
});

test("with MOORAGE_PUBLIC_ADVISORIES a caller without a token gets what the feeds say, and nothing of groups", async (t) => {
  const platform = await withBoth(t, { MOORAGE_PUBLIC_ADVISORIES: "1" });
  const documents = await both(platform, listDocuments, {});
  assert.equal(documents.status, 200, documents.text);
  assert.deepEqual(
    (documents.body["documents"] as { id: string }[]).map(({ id }) => id),
    ["app"],
  );
  const metadata = await both(platform, listVulnerabilityMetadata, {});
  const [known, ...others] = metadata.body["vulnerabilityMetadata"] as Record<string, unknown>[];
  assert.deepEqual([known?.["id"], known?.["aliases"], known?.["severities"], others], ["PYSEC-2026-1", [], [], []]);
  for (const path of [
    `${DOCUMENTS}?id=secret`,
    `${METADATA}?id=ACME-1`,
    `${DOCUMENTS}?cves=ACME-1`,
    `${DOCUMENTS}?uidp.descendants_of=${platform.organization}`,
  ]) {
    const answer = await platform.call("GET", path);
    assert.deepEqual([answer.status, answer.body.totalCount], [200, "0"], path);
  }
  // A token that is not valid is not a caller without one.
  const wrong = await platform.call("GET", METADATA, { token: "not-a-token" });
  assert.equal(wrong.status, 401);
  const owner = await platform.ok("GET", `${METADATA}?id=ACME-1`);
  assert.equal(owner.totalCount, "1");
});
