import assert from "node:assert/strict";
import { test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { openedImport, osvOf } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";

// A feed that another process imports: this one looks for work by itself once an hour, and hears of no commit of it.

test("what another process imports is compared while it imports, and emitted for all images at its end", async (t) => {
  const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_WORK_POLL: "1h" });
  t.after(() => platform.close());
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  // More than are looked at together.
  const images = 60;
  const pushed: string[] = [];
  for (let n = 0; n < images; n += 1)
    pushed.push(await pushLayers(place, `v${n}`, [tarOf([npmFile("app", "left", "1.0.0"), { path: `file-${n}` }])]));
  const { reader } = platform;
  const read = async (): Promise<number> =>
    (await reader.selectFrom("image_packages").select("digest").distinct().execute()).length;
  await eventually(async () => (await read()) === images);
  const { transact } = platform;
  const { add, end } = await openedImport({ transact }, "elsewhere");
  // The one look that sees the import.
  platform.wake(["matching"]);
  await eventually(async () => {
    await add([osvOf("OSV-1", affectedBefore("left", "2.0.0"))]);
    return (await reader.selectFrom("package_findings").select("record").execute()).length > 0;
  });
  await end();
  const emitted = async (): Promise<string[]> => {
    const rows = await reader
      .selectFrom("events")
      .select("body")
      .where("type", "=", "vulnerabilities.finding.opened.v1")
      .execute();
    return rows.map(({ body }) => (JSON.parse(body) as { digest: string }).digest);
  };
  await eventually(async () => (await emitted()).length >= images);
  assert.deepEqual((await emitted()).toSorted(), pushed.toSorted());
});
