// Attached documents that an earlier version of the readers read.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Row } from "../../../kernel/src/store/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { digestOf, pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const CYCLONEDX = "application/vnd.cyclonedx+json";
const MODULE = "github.com/go-jose/go-jose";

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_WORK_POLL: "100ms" });
});
after(() => platform.close());

const reading = async (): Promise<Row<"attached_readings"> | undefined> =>
  await platform.reader.selectFrom("attached_readings").selectAll().executeTakeFirst();

/** What counts of the document, as it is stored. */
async function counting(subject: string, manifest: string) {
  const packages = await platform.reader
    .selectFrom("image_packages as i")
    .innerJoin("packages as p", "p.id", "i.package")
    .select(["i.n", "p.purl"])
    .where("i.digest", "=", subject)
    .where("i.source", "=", `${manifest}/0`)
    .orderBy("i.n")
    .execute();
  const statements = await platform.reader
    .selectFrom("attached_statements")
    .select(["n", "i", "ids", "target"])
    .where("n", ">=", 0)
    .orderBy("i")
    .execute();
  return {
    purls: packages.map(({ purl }) => purl),
    statements: statements.map(({ n, i, ids, target }) => [Number(n), Number(i), ids, target]),
  };
}

/** Waits for the reading, and that what counts never vanishes meanwhile. */
async function until(
  isWanted: (row: Row<"attached_readings">) => boolean,
  place: { subject: string; manifest: string } | undefined,
): Promise<Row<"attached_readings">> {
  return await eventually(
    async () => {
      const row = await reading();
      if (place !== undefined)
        assert.deepEqual((await counting(place.subject, place.manifest)).purls.length, 2, "it counts meanwhile");
      return row !== undefined && isWanted(row) && row;
    },
    { instead: reading },
  );
}

test("what earlier readers read of an attached document is read again, and counts meanwhile", async () => {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  const subject = await pushLayers(place, "v1", [tarOf([npmFile("app", "inside", "1.0.0")])]);
  const document = JSON.stringify({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    components: [
      { type: "library", name: MODULE, version: "v3.0.1", purl: `pkg:golang/${MODULE}@v3.0.1#v3`, "bom-ref": "jose" },
      { type: "library", name: "stated", version: "1.0.0", purl: "pkg:npm/stated@1.0.0" },
    ],
    vulnerabilities: [{ id: "CVE-2026-1", affects: [{ ref: "jose" }], analysis: { state: "not_affected" } }],
  });
  const layers = [{ mediaType: CYCLONEDX, content: document }];
  const manifest = await pushArtifact(place, { artifactType: CYCLONEDX, layers, subject });
  await until(({ readers }) => Number(readers) > 0, undefined);
  const all = await counting(subject, manifest);
  assert.deepEqual(all.purls, [`pkg:golang/${MODULE}/v3@v3.0.1`, "pkg:npm/stated@1.0.0"]);
  assert.equal(all.statements.length, 1);

  // As earlier readers left it, which read no subpaths and made another statement, and a reading of today that was
  // killed.
  const asBefore = (): Promise<void> =>
    platform.transact(async (tx) => {
      const row = await tx
        .selectFrom("packages")
        .selectAll()
        .where("ecosystem", "=", "golang")
        .executeTakeFirstOrThrow();
      const old = { ...row, id: "old", purl: `pkg:golang/${MODULE}@v3.0.1` };
      if (row.id !== "old") await tx.insertInto("packages").values(old).execute();
      await tx.updateTable("image_packages").set({ package: "old" }).where("package", "=", row.id).execute();
      if (row.id !== "old") await tx.deleteFrom("packages").where("id", "=", row.id).execute();
      await tx.updateTable("attached_statements").set({ target: "pkg:npm/other", ids: '["cve-2020-1"]' }).execute();
      const killed = { digest: subject, source: `${manifest}/0/again`, layer: "", path: "", reader: "cyclonedx" };
      await tx
        .insertInto("image_packages")
        .values({ ...killed, n: 7, package: "old" })
        .execute();
      const [statement] = await tx.selectFrom("attached_statements").selectAll().execute();
      if (statement !== undefined)
        await tx
          .insertInto("attached_statements")
          .values({ ...statement, n: -1 })
          .execute();
      await tx.updateTable("attached_readings").set({ readers: 0, rereads: 0 }).execute();
    });
  await asBefore();
  await until(({ readers }) => Number(readers) > 0, { subject, manifest });
  assert.deepEqual(await counting(subject, manifest), all);
  const sources = await platform.reader
    .selectFrom("image_packages")
    .select("source")
    .distinct()
    .where("digest", "=", subject)
    .execute();
  assert.deepEqual(
    sources.map(({ source }) => source).toSorted(),
    ["layers", `${manifest}/0`].toSorted(),
    "nothing is left of the readings",
  );
  assert.deepEqual(
    await platform.reader.selectFrom("attached_statements").select("n").where("n", "<", 0).execute(),
    [],
  );

  // One that is not stored as a whole any longer keeps what it has, and is given up.
  await asBefore();
  await platform.transact(async (tx) => {
    await tx.updateTable("attached_readings").set({ readers: 1 }).execute();
    await tx
      .deleteFrom("blobs")
      .where("digest", "=", digestOf(Buffer.from(document)))
      .execute();
  });
  const kept = await counting(subject, manifest);
  await platform.transact((tx) => tx.updateTable("attached_readings").set({ readers: 0 }).execute());
  const given = await until(({ rereads }) => Number(rereads) === 3, { subject, manifest });
  assert.deepEqual([given.state, given.holder, Number(given.readers)], [2, "", 0]);
  assert.deepEqual(await counting(subject, manifest), kept);
});
