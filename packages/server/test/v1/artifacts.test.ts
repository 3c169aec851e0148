import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Ecosystem } from "@moorage/api";
import { Artifacts, Ecosystem as V1Ecosystem } from "@moorage/api/v1/libraries";
import { addArtifact, removeArtifact } from "../support/artifacts.ts";
import { osvOf, putRecords } from "../support/feed-records.ts";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";
import { both } from "../support/rest-and-grpc.ts";

// moorage.libraries.Artifacts: the fields of v1 by REST and gRPC.
let platform: Platform;
let group = "";
let token = "";
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
  group = (await platform.group(platform.organization)).uid;
  await addArtifact(platform, group, { name: "left-pad", versions: 3 });
  await addArtifact(platform, group, { name: "flask", ecosystem: Ecosystem.PYTHON });
});
after(() => platform.close());

const { getArtifactCount, list, listVersions } = Artifacts.method;

test("artifacts are listed in pages, of all ecosystems unless some are named", async () => {
  const first = (await both(platform, list, { pageSize: 1 }, token)).body;
  const [flask] = first["items"] as Json[];
  assert.deepEqual([flask?.name, first["totalArtifacts"], flask?.["versionCount"]], ["flask", 2, 1]);
  assert.match(String(flask?.["createdAt"]), /^\d{4}-/);
  const second = (await both(platform, list, { pageToken: first.nextPageToken }, token)).body;
  assert.deepEqual(
    (second["items"] as Json[]).map(({ name }) => name),
    ["left-pad"],
  );
  const some = (await both(platform, list, { ecosystems: [V1Ecosystem.PYTHON] }, token)).body;
  assert.equal(some["totalArtifacts"], 1);
  assert.equal((await both(platform, list, { pageSize: -1 }, token)).status, 400);
});

test("all versions of an artifact are answered, and none of what is not there", async () => {
  const { items } = (await both(platform, list, { query: "left" }, token)).body as unknown as {
    items: { id: string }[];
  };
  const versions = (await both(platform, listVersions, { id: items[0]?.id ?? "" }, token)).body["items"] as Json[];
  assert.deepEqual(
    versions.map(({ version, name }) => [version, name]),
    [
      ["1.0.2", "left-pad"],
      ["1.0.1", "left-pad"],
      ["1.0.0", "left-pad"],
    ],
  );
  const none = await both(platform, listVersions, { id: `${group}/${"0".repeat(16)}` }, token);
  assert.deepEqual([none.status, none.text], [200, "{}"]);
});

test("a version says where it comes from, and whether it is malware", async () => {
  const { uid } = await addArtifact(platform, group, { name: "nasty", versions: 2 });
  const publishMs = Date.parse("2026-01-02T03:04:05Z");
  await platform.transact((tx) =>
    tx
      .updateTable("artifact_versions")
      .set({ origin: 2, publish_time: publishMs })
      .where("parent", "=", uid)
      .where("version", "=", "1.0.1")
      .execute(),
  );
  const fields = async (): Promise<unknown[]> => {
    const { items } = (await both(platform, listVersions, { id: uid }, token)).body as unknown as { items: Json[] };
    return items.map((item) => [
      item["version"],
      item["sourceType"],
      item["malwareScanned"] ?? false,
      item["malwareMalicious"] ?? false,
      item["upstreamPublishedDate"] ?? "",
    ]);
  };
  assert.deepEqual(await fields(), [
    ["1.0.1", "SOURCE_TYPE_UPSTREAM_REGISTRY", false, false, "2026-01-02T03:04:05.000Z"],
    ["1.0.0", "SOURCE_TYPE_INTERNAL", false, false, ""],
  ]);
  const ranges = [{ type: "SEMVER", events: [{ introduced: "1.0.1" }] }];
  await putRecords(platform, "malware", "osv", [
    osvOf("MAL-2026-1", { affected: [{ package: { ecosystem: "npm", name: "nasty" }, ranges }] }),
  ]);
  assert.deepEqual(await fields(), [
    ["1.0.1", "SOURCE_TYPE_UPSTREAM_REGISTRY", true, true, "2026-01-02T03:04:05.000Z"],
    ["1.0.0", "SOURCE_TYPE_INTERNAL", true, false, ""],
  ]);
  await removeArtifact(platform, uid);
});

test("counts are by ecosystem", async () => {
  const { body } = await both(platform, getArtifactCount, {}, token);
  assert.deepEqual(body["counts"], [
    { ecosystem: "ECOSYSTEM_JAVA" },
    { ecosystem: "ECOSYSTEM_PYTHON", totalArtifacts: 1 },
    { ecosystem: "ECOSYSTEM_JAVASCRIPT", totalArtifacts: 1 },
  ]);
});
