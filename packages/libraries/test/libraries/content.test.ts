// The content of libraries in the blob store: one copy with images, garbage collection, fsck, export and import.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { exportInstallation, importInstallation, loadConfig } from "../../../server/src/index.ts";
import { SILENT } from "../../../server/src/admin/progress.ts";
import { foundBy } from "../../../server/test/support/fsck.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../../../server/test/support/database.ts";
import { NOTHING, startCollecting } from "../../../server/test/support/garbage-collection.ts";
import { startInstallation, temporaryFolder } from "../../../server/test/support/installation.ts";
import { npmPath, publishDocument, tarballOf } from "../../../server/test/support/npm.ts";

type Ask = (path: string, method?: string, body?: string | Uint8Array<ArrayBuffer>) => Promise<Response>;

const asking =
  (url: string, token: string): Ask =>
  (path, method = "GET", body = undefined) =>
    fetch(url + path, { method, headers: { authorization: `Bearer ${token}` }, ...(body !== undefined && { body }) });

async function publish(ask: Ask, name: string, version: string, tarball?: Buffer): Promise<void> {
  const document = publishDocument(name, version, tarball === undefined ? {} : { tarball });
  const answer = await ask(npmPath("acme", name), "PUT", JSON.stringify(document));
  assert.equal(answer.status, 201, await answer.text());
}

const tarballPath = (name: string): string => `${npmPath("acme", name)}/-/${name}-1.0.0.tgz`;

test("a tarball that is a blob of an image as well is stored once, and stays until neither needs it", async (t) => {
  const { collect, stored, pass, deps, ownerToken } = await startCollecting(t);
  const ask = asking(deps.config.registryUrl, ownerToken);
  const tarball = tarballOf({ name: "shared", version: "1.0.0" });
  const digest = `sha256:${createHash("sha256").update(tarball).digest("hex")}`;
  await publish(ask, "shared", "1.0.0", tarball);
  const pushed = await ask(`/v2/acme/app/blobs/uploads/?digest=${digest}`, "POST", new Uint8Array(tarball));
  assert.equal(pushed.status, 201);
  assert.equal(await stored(), 1);
  // The repo lets go of it, the library does not.
  pass(10);
  assert.deepEqual(await collect(), { ...NOTHING, blobs: 1 });
  const sent = await ask(tarballPath("shared"));
  assert.deepEqual(Buffer.from(await sent.arrayBuffer()), tarball);
  const { _rev: rev } = (await (await ask(npmPath("acme", "shared"))).json()) as { _rev: string };
  assert.equal((await ask(`${npmPath("acme", "shared")}/-rev/${rev}`, "DELETE")).status, 200);
  assert.deepEqual(await collect(), { ...NOTHING, blobs: 1, bytes: tarball.length });
  assert.equal(await stored(), 0);
});

test("a blob that is deleted from its repo stays where a library has it", async (t) => {
  const { deps, ownerToken } = await startCollecting(t);
  const ask = asking(deps.config.registryUrl, ownerToken);
  const tarball = tarballOf({ name: "shared", version: "1.0.0" });
  const digest = `sha256:${createHash("sha256").update(tarball).digest("hex")}`;
  await ask(`/v2/acme/app/blobs/uploads/?digest=${digest}`, "POST", new Uint8Array(tarball));
  await publish(ask, "shared", "1.0.0", tarball);
  assert.equal((await ask(`/v2/acme/app/blobs/${digest}`, "DELETE")).status, 202);
  assert.equal((await ask(tarballPath("shared"))).status, 200);
});

test("what was rejected leaves nothing in the blob store", async (t) => {
  const { deps, ownerToken, stored } = await startCollecting(t);
  const ask = asking(deps.config.registryUrl, ownerToken);
  const document = publishDocument("one", "1.0.0");
  await publish(ask, "one", "1.0.0");
  const texts = [
    // There already, with another content.
    JSON.stringify(publishDocument("one", "1.0.0", { tarball: tarballOf({ name: "other" }) })),
    // Another name than the path's, cut short, with rubbish after the tarball, and with a second one.
    JSON.stringify(publishDocument("two", "1.0.0")),
    JSON.stringify(document).slice(0, -3),
    `${JSON.stringify(document)}rubbish`,
    JSON.stringify({
      ...document,
      _attachments: { ...(document["_attachments"] as object), "b.tgz": { data: "AAAA" } },
    }),
  ];
  for (const text of texts) {
    const { status } = await ask(npmPath("acme", "one"), "PUT", text);
    assert.ok(status === 400 || status === 403, `${status}: ${text.slice(-60)}`);
  }
  assert.equal(await stored(), 1);
  const uploads = [];
  for await (const upload of deps.blobs.listUploads()) uploads.push(upload);
  assert.deepEqual(uploads, []);
});

test("an export has libraries with their content, and fsck finds what is wrong with them and repairs it", async (t) => {
  const origin = await startInstallation(t);
  await publish(asking(origin.url, origin.registry), "kept", "1.0.0");
  await origin.close();
  const out = join(temporaryFolder(t), "out");
  await exportInstallation(origin.config, out, SILENT);
  const dataDir = temporaryFolder(t);
  t.after(() => dropDatabase(dataDir));
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
  await importInstallation(config, out, SILENT);
  const there = await startInstallation(t, {}, dataDir);
  assert.equal((await asking(there.url, there.registry)(tarballPath("kept"))).status, 200);
  await there.close();
  const check = (repair: boolean): Promise<string[]> => foundBy(config, { repair });
  assert.deepEqual(await check(false), []);
  const { db, close } = await openTestStore(dataDir);
  t.after(close);
  await db.updateTable("artifacts").set({ version_count: 7, size_bytes: 1 }).execute();
  await db.deleteFrom("artifact_words").execute();
  await db.deleteFrom("ancestry").where("kind", "=", "artifacts-3").execute();
  await db.updateTable("counters").set({ n: 9 }).where("kind", "=", "artifacts-3").execute();
  await db
    .insertInto("removed_versions")
    .values({ parent: "0".repeat(40), ecosystem: 3, name: "x", version: "1.0.0", create_time: 0 })
    .execute();
  const kinds = [
    "artifact-sums-wrong",
    "artifact-not-searchable",
    "removed-version-without-group",
    "ancestry-missing",
    "counter-wrong",
  ];
  assert.deepEqual(
    (await check(false)).map((found) => found.split(" ", 1)[0]),
    kinds,
  );
  assert.ok((await check(true)).every((found) => found.endsWith(" 0")));
  assert.deepEqual(await check(false), []);
});
