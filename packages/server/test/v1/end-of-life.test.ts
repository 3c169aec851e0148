import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Registry } from "@moorage/api/v1/registry";
import { importFeeds } from "../support/vulnerability-lists.ts";
import { pushImage } from "../support/image.ts";
import { type Platform, startPlatform } from "../support/platform.ts";
import { type Item, type V1, v1Of } from "../support/v1/calls.ts";
import { zipOf } from "../support/zip.ts";

const { getPackageVersionMetadata, listEolTags } = Registry.method;
const DAY_MS = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

describe("ends of life by v1", () => {
  let platform: Platform;
  let v1: V1;
  let repo = "";
  let recent = "";
  before(async () => {
    platform = await startPlatform();
    v1 = await v1Of(platform);
    recent = dayOf(platform.clock.nowMs() - 40 * DAY_MS);
    const page = [
      "---",
      "title: Engine",
      "identifiers:",
      "  - purl: pkg:docker/library/engine",
      "releases:",
      ...[
        ["3", "2099-01-01", "3.1.0", "true"],
        ["2", recent, "2.5.0", "false"],
        ["1", "2020-05-05", "1.9.9", "false"],
        ["0", "true", "0.9.0", "false"],
      ].flatMap(([cycle, eol, latest, lts]) => [
        `  - releaseCycle: "${cycle}"`,
        "    releaseDate: 2019-01-02",
        `    eol: ${eol}`,
        `    lts: ${lts}`,
        `    latest: "${latest}"`,
      ]),
      "---",
      "Text.",
    ].join("\n");
    const content = zipOf([{ name: "products/engine.md", content: page }]);
    await importFeeds(platform, { eol: { file: "products.zip", content } });
    repo = (await platform.repo(platform.organization, { name: "engine", product: { id: "engine" } })).uid;
    for (const tag of ["0.9", "1.0", "1.0-r3", "1.0-20260131", "2.1", "3.1"])
      await pushImage(platform, `${platform.bootstrap.organization.name}/engine`, tag);
  });
  after(() => platform.close());

  test("tags past the end of life of their product are listed, in grace for six months", async () => {
    const items = await v1.items(listEolTags, { uidp: { childrenOf: repo } });
    const byName = new Map(items.map((each) => [each["name"], each]));
    assert.deepEqual([...byName.keys()].sort(), ["0.9", "1.0", "1.0-20260131", "1.0-r3", "2.1"]);
    const version = { exists: true, legacyLts: "false", releaseDate: "2019-01-02" };
    const { gracePeriodExpiryDate: end, ...inGrace } = byName.get("2.1") ?? {};
    assert.deepEqual(inGrace, {
      id: inGrace["id"],
      name: "2.1",
      mainPackageName: "engine",
      tagStatus: "TAG_IN_GRACE",
      graceStatus: "GRACE_ACTIVE",
      mainPackageVersion: { ...version, version: "2", eolDate: recent, latestVersion: "2.5.0" },
    });
    assert.match(String(inGrace["id"]), new RegExp(`^${repo}/[0-9a-f]{16}$`));
    const [began, ends] = [new Date(`${recent}T00:00:00Z`), new Date(String(end))];
    const months = (ends.getUTCFullYear() - began.getUTCFullYear()) * 12 + ends.getUTCMonth() - began.getUTCMonth();
    assert.equal(months, 6);
    const states = ["0.9", "1.0"].map((name) => {
      const { tagStatus, graceStatus, gracePeriodExpiryDate } = byName.get(name) ?? {};
      return [tagStatus, graceStatus, gracePeriodExpiryDate];
    });
    // JSON leaves out the first value of an enum: there is no grace.
    assert.deepEqual(states, [
      ["TAG_INACTIVE", undefined, undefined],
      ["TAG_INACTIVE", "GRACE_EXPIRED", "2020-11-05T00:00:00Z"],
    ]);
  });

  test("filters leave tags out, and pages go on", async () => {
    const names = async (filter: object): Promise<unknown[]> =>
      (await v1.items(listEolTags, { uidp: { childrenOf: repo }, ...filter })).map(({ name }) => name).sort();
    assert.deepEqual(await names({ name: "1.0" }), ["1.0"]);
    assert.deepEqual(await names({ excludeDates: true }), ["0.9", "1.0", "1.0-r3", "2.1"]);
    assert.deepEqual(await names({ excludeEpochs: true, excludeDates: true }), ["0.9", "1.0", "2.1"]);
    const found: unknown[] = [];
    for (let pageToken = "", pages = 0; pages < 10; pages += 1) {
      const page = await v1.rest(listEolTags, { uidp: { childrenOf: repo }, pageSize: "2", pageToken });
      const items = (page["items"] ?? []) as Item[];
      assert.ok(items.length <= 2);
      found.push(...items.map(({ name }) => name));
      pageToken = String(page["nextPageToken"] ?? "");
      if (pageToken === "") break;
    }
    assert.deepEqual(found.sort(), await names({}));
    assert.deepEqual(await v1.refused(listEolTags, { pageSize: "-1" }), [400, "page_size"]);
    assert.deepEqual(await v1.refused(listEolTags, {}, "none"), [401]);
    assert.deepEqual(await v1.read(listEolTags, {}, "stranger"), {});
    assert.deepEqual((await v1.items(listEolTags, {}, "viewer")).length, 5);
  });

  test("the versions of a product are for every signed-in caller, with days as text", async () => {
    const product = { package: "engine" };
    const found = await v1.read(getPackageVersionMetadata, product, "stranger");
    const common = { releaseDate: "2019-01-02", legacyLts: "false" };
    assert.deepEqual(
      { ...found, lastUpdatedTimestamp: undefined },
      {
        versions: [
          { ...common, version: "3", eolDate: "2099-01-01", latestVersion: "3.1.0", lts: true, legacyLts: "true" },
        ],
        eolVersions: [
          { ...common, version: "2", eolDate: recent, latestVersion: "2.5.0" },
          { ...common, version: "1", eolDate: "2020-05-05", latestVersion: "1.9.9" },
          { ...common, version: "0", latestVersion: "0.9.0" },
        ],
        latestVersion: "3.1.0",
        gracePeriodMonths: 6,
        lastUpdatedTimestamp: undefined,
      },
    );
    assert.match(String(found["lastUpdatedTimestamp"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.deepEqual(await v1.read(getPackageVersionMetadata, { package: "pkg:docker/library/engine" }), found);
    assert.deepEqual(await v1.refused(getPackageVersionMetadata, product, "none"), [401]);
    assert.deepEqual(await v1.refused(getPackageVersionMetadata, { package: "none" }), [404]);
  });
});
