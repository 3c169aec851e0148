import assert from "node:assert/strict";
import { test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { addImage, before, npm } from "../../../server/test/support/matching.ts";
import { type Json, startPlatform } from "../../../server/test/support/platform.ts";
import { rowsRead, statementsRun } from "../../../server/test/support/statements.ts";

const IMAGES = 400;
const SIZE = 20;

test("a deep page costs what the first one costs, with and without a vulnerability", async (t) => {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const { organization, reader } = platform;
  const repo = (await platform.repo(organization, { name: "app" })).uid;
  const digests = Array.from({ length: IMAGES }, (_, n) => `sha256:${String(n).padStart(64, "0")}`);
  // As pushes and readings of images leave it.
  await platform.transact(async (tx) => {
    for (const [n, digest] of digests.entries()) {
      await addImage(tx, digest, [npm("left-pad", "1.0.0"), npm("left-pad", `1.0.${n + 1}`)]);
      const times = { create_time: n, finish_time: n, hold_until: 0, attempts: 1, backlog: 0, state: 2 };
      const texts = { reason: "", holder: "", os_id: "", os_version: "", os_name: "", unread: "[]" };
      await tx
        .insertInto("image_catalogs")
        .values({ digest, ...times, ...texts })
        .execute();
      const [mediaType, artifactType] = ["application/vnd.oci.image.manifest.v1+json", "application/x"];
      await tx
        .insertInto("manifests")
        .values({
          repo,
          digest,
          media_type: mediaType,
          content: Buffer.from("{}"),
          size: 2,
          subject: "",
          artifact_type: artifactType,
          annotations: "{}",
          create_time: n,
          touch_time: n,
        })
        .execute();
      const tag = { uid: newUid(repo), parent: repo, name: `v${n}`, digest, deprecated: 0, bundles: "[]" };
      await tx
        .insertInto("tags")
        .values({ ...tag, create_time: n, update_time: n })
        .execute();
    }
  });
  await putRecords(platform, "osv", "osv", [osvOf("A-1", { aliases: ["CVE-2026-1"], ...before("left-pad", "2.0.0") })]);
  await eventually(
    async () => (await reader.selectFrom("package_findings").select("package").execute()).length >= IMAGES + 1,
  );
  // What the server does by itself is not counted: it has emitted the events of all of them.
  await eventually(
    async () =>
      (await reader.selectFrom("finding_causes").select("id").limit(1).execute()).length === 0 &&
      (await reader.selectFrom("finding_checks").select("digest").limit(1).execute()).length === 0,
  );
  const token = await platform.token();
  const page = async (query: string): Promise<Json> => {
    const { status, body, text } = await platform.call("GET", `/vulnerabilities/v2/findings?${query}`, { token });
    assert.equal(status, 200, text);
    return body;
  };
  for (const filter of ["", "vulnerabilities=CVE-2026-1"]) {
    const costs: { statements: number; rows: number }[] = [];
    const seen = new Set<string>();
    let next = "";
    do {
      let body: Json | undefined;
      const ran = await statementsRun(async () => {
        body = await page(`${filter}&pageSize=${SIZE}&pageToken=${next}`);
      });
      const reads = ran.filter(({ text }) => /image_packages|manifests|package_findings/.test(text));
      let rows = 0;
      if (ENGINE === "postgres") for (const each of reads) rows += await rowsRead(reader, each);
      costs.push({ statements: reads.length, rows });
      const found = (body?.["findings"] ?? []) as { digest: string; package: { version: string } }[];
      for (const each of found) seen.add(`${each.digest} ${each.package.version}`);
      next = body?.nextPageToken ?? "";
    } while (next !== "");
    assert.equal(seen.size, 2 * IMAGES);
    const [first, ...others] = costs;
    assert.ok(first !== undefined && others.length > 30);
    for (const { statements, rows } of others) {
      assert.ok(statements <= first.statements + 10, `${filter} ${statements} after ${first.statements}`);
      assert.ok(rows <= 2 * first.rows + 100, `${filter} ${rows} rows after ${first.rows}`);
    }
  }
});
