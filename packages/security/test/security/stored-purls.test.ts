import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sql } from "kysely";
import { giveRelease, withReleases } from "../../src/security/catalog/releases.ts";
import { CATALOG_STATE, insertPackages, packageRow } from "../../src/security/catalog/rows.ts";
import type { Component } from "../../src/security/catalog/types.ts";
import { packagesNamed } from "../../src/security/packages/candidates.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { MIGRATIONS } from "../../../kernel/src/store/migrations.ts";
import { fileOf } from "../../../server/test/support/feed-files.ts";
import { OSV_FEED, openFeedInstallation } from "../../../server/test/support/feed-installation.ts";
import { openMatching, openOnes } from "../../../server/test/support/matching.ts";

// Package URLs as they were stored before, and packages that are stored without the release of their distribution.

const DIGEST = `sha256:${"a".repeat(64)}`;
const INDEX = `sha256:${"b".repeat(64)}`;
const component = (purl: string, name: string, version: string): Component => ({
  purl,
  name,
  version,
  sourceName: "",
  sourceVersion: "",
  licence: "",
  layer: "",
  path: "",
  reader: "",
});

/** What the migration does with rows; its tables and indexes are there. */
async function renew(db: Database): Promise<void> {
  const { statements = [] } = MIGRATIONS.find(({ name }) => name === "one form of package URLs") ?? {};
  assert.ok(statements.length > 0);
  for (const statement of statements) if (!statement.startsWith("create")) await sql.raw(statement).execute(db);
}

/** A package as it was stored before: its id was made of the purl as it was. */
async function storeBefore(
  db: Database,
  purl: string,
  name: string,
  version: string,
  ecosystem: string,
): Promise<string> {
  const row = { ecosystem, source_name: name, source_version: version, purl, name, version, licence: "" };
  const id = createHash("sha256")
    .update(JSON.stringify(Object.values(row)))
    .digest("hex")
    .slice(0, 32);
  await db
    .insertInto("packages")
    .values({ id, ...row, matched: 1 })
    .execute();
  return id;
}

test("what is stored gets the new form, keeps its id, and is compared once more", async (t) => {
  const installation = await openFeedInstallation(t);
  const { db, admin, importOsv } = installation;
  const { match } = await openMatching(t, installation);
  await admin((feeds) => feeds.add(OSV_FEED));
  const affected = (ecosystem: string, name: string, versions: string[]): object => ({
    affected: [{ package: { ecosystem, name }, versions }],
  });
  await importOsv("osv", [
    { id: "A", ...affected("Debian:12", "bash", ["5.2+b1"]) },
    { id: "B", ...affected("PyPI", "torch", ["2.5.0"]) },
    { id: "C", ...affected("npm", "JSONStream", ["1.0.0"]) },
    { id: "D", ...affected("npm", "jsonstream", ["1.0.0"]) },
  ]);
  await match(1_000);
  const bash = "pkg:deb/debian/bash@5.2";
  const ids = [
    await storeBefore(db, `${bash}+b1?arch=amd64&distro=bookworm`, "bash", "5.2+b1", "deb/bookworm"),
    await storeBefore(db, "pkg:pypi/torch@2.5.0+cpu", "torch", "2.5.0+cpu", "pypi"),
    await storeBefore(db, "pkg:npm/jsonstream@1.0.0", "JSONStream", "1.0.0", "npm"),
  ];
  await renew(db);
  await match(2_000);
  assert.deepEqual(await openOnes(db), ["JSONStream 1.0.0 C", "bash 5.2+b1 A", "torch 2.5.0+cpu B"]);
  const rows = await db.selectFrom("packages").select(["id", "purl"]).execute();
  const purls = new Map(rows.map(({ id, purl }) => [id, purl]));
  assert.deepEqual(
    ids.map((id) => purls.get(id)),
    [`${bash}%2Bb1?arch=amd64&distro=bookworm`, "pkg:pypi/torch@2.5.0%2Bcpu", "pkg:npm/jsonstream@1.0.0"],
  );
  // The same package of an image that is read now is the same row.
  assert.equal(packageRow(component("pkg:pypi/torch@2.5.0%2Bcpu", "torch", "2.5.0+cpu")).id, ids[1]);
  const found = await packagesNamed(db, ["pkg:npm/jsonstream@1.0.0"]);
  assert.deepEqual(
    found.map(({ id }) => id),
    [ids[2]],
  );
});

test("statements that are found by a key of before are found by the one of now", async (t) => {
  const installation = await openFeedInstallation(t);
  const { db, admin } = installation;
  const { match } = await openMatching(t, installation);
  const said = {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://example.com/vex/1",
    author: "Upstream",
    timestamp: "2026-11-02T08:00:00Z",
    statements: ["pkg:golang/github.com/go-jose/go-jose@v3.0.1#v3", "pkg:npm/left-pad"].map((product) => ({
      vulnerability: { name: "CVE-2026-1" },
      products: [{ "@id": product }],
      status: "not_affected",
      justification: "component_not_present",
    })),
  };
  const products = ["pkg:golang/", "pkg:npm/"];
  await admin((feeds) => feeds.add({ name: "vex", format: "openvex", licence: "CC0-1.0", products }));
  await admin((feeds) => feeds.importData("vex", fileOf(t, "vex.json", JSON.stringify(said)), {}));
  await match(1_000);
  // As it was found before: the subpath was no part of the module's name.
  const key = "golang/github.com/go-jose/go-jose";
  await db.updateTable("feed_statements").set({ key }).where("key", "=", `${key}/v3`).execute();
  await db.updateTable("feed_statement_keys").set({ key }).where("key", "=", `${key}/v3`).execute();
  const before = await db.selectFrom("feed_statements").selectAll().execute();
  assert.deepEqual(before.map((row) => row.key).sort(), [key, "npm//left-pad"]);
  await renew(db);
  await match(2_000);
  const rows = await db.selectFrom("feed_statements").selectAll().where("until_time", "is", null).execute();
  assert.deepEqual(rows.map((row) => [row.key, row.from_time, row.since]).sort(), [
    [`${key}/v3`, 2_000, 1_000],
    ["npm//left-pad", 1_000, 1_000],
  ]);
  const keys = await db.selectFrom("feed_statement_keys").select("key").where("key", "=", `${key}/v3`).execute();
  assert.equal(keys.length, 1);
});

test("a package without its release has that of its image, whichever was read first", async (t) => {
  const { db } = await openFeedInstallation(t);
  const read = async (digest: string, version: string): Promise<void> => {
    await db
      .insertInto("image_catalogs")
      .values({
        digest,
        state: CATALOG_STATE.done,
        backlog: 0,
        attempts: 1,
        reason: "",
        holder: "",
        hold_until: 0,
        os_id: "debian",
        os_version: version,
        os_name: "",
        unread: "[]",
        create_time: 1,
        finish_time: 2,
      })
      .execute();
    await giveRelease(db, digest);
  };
  const stated = [
    component("pkg:deb/debian/curl@7.88.1-10?arch=amd64", "curl", "7.88.1-10"),
    component("pkg:deb/debian/bash@5.2?arch=amd64&distro=debian-11", "bash", "5.2"),
    component("pkg:npm/left-pad@1.0.0", "left-pad", "1.0.0"),
  ];
  const attach = async (digest: string, source: string): Promise<void> =>
    insertPackages(db, { digest, source, from: 0, components: await withReleases(db, digest, stated) });
  const heldIn = async (digest: string, source: string): Promise<string[]> => {
    const rows = await db
      .selectFrom("image_packages as i")
      .innerJoin("packages as p", "p.id", "i.package")
      .select(["p.purl"])
      .where("i.digest", "=", digest)
      .where("i.source", "=", source)
      .orderBy("i.n")
      .execute();
    return rows.map(({ purl }) => purl);
  };
  const rest = ["pkg:deb/debian/bash@5.2?arch=amd64&distro=debian-11", "pkg:npm/left-pad@1.0.0"];
  const inRelease = ["pkg:deb/debian/curl@7.88.1-10?arch=amd64&distro=debian-12", ...rest];
  await db
    .insertInto("manifest_references")
    .values({ repo: "r", digest: INDEX, target: DIGEST, kind: "manifest" })
    .execute();
  await attach(DIGEST, "before/0");
  await attach(INDEX, "before/0");
  assert.deepEqual(await heldIn(DIGEST, "before/0"), ["pkg:deb/debian/curl@7.88.1-10?arch=amd64", ...rest]);
  await read(DIGEST, "12");
  await attach(DIGEST, "after/0");
  for (const [digest, source] of [
    [DIGEST, "before/0"],
    [DIGEST, "after/0"],
    [INDEX, "before/0"],
  ] as const)
    assert.deepEqual(await heldIn(digest, source), inRelease, source);
  const left = await db.selectFrom("packages").select("purl").where("ecosystem", "=", "deb").execute();
  assert.deepEqual(left, [], "what no image holds any longer is removed");
  // An index of images of two releases has none.
  const other = `sha256:${"c".repeat(64)}`;
  await db
    .insertInto("manifest_references")
    .values({ repo: "r", digest: INDEX, target: other, kind: "manifest" })
    .execute();
  await read(other, "13");
  await attach(INDEX, "after/0");
  assert.deepEqual(await heldIn(INDEX, "after/0"), ["pkg:deb/debian/curl@7.88.1-10?arch=amd64", ...rest]);
});
