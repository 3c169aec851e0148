import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import test, { type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { loadConfig } from "../../../server/src/index.ts";
import { removeUnusedCatalogs } from "../../src/security/catalog/remove.ts";
import { type Database, openStore, type Row } from "../../../kernel/src/store/index.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { digestOf, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { openComposition } from "../../../server/test/support/composition.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { temporaryFolder } from "../../../server/test/support/installation.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";

const DEBIAN = tarOf([
  { path: "etc/os-release", content: 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian 12"\n' },
  { path: "var/lib/dpkg/status", content: "Package: libssl3\nVersion: 3.0.11\nSource: openssl\nArchitecture: amd64\n" },
]);

async function start(t: TestContext, env: Record<string, string> = {}): Promise<Platform> {
  const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", ...env });
  t.after(() => platform.close());
  return platform;
}

async function target({ url, token, owner, bootstrap }: Platform, image = "app"): Promise<PushTarget> {
  const audience = new URL(url).host;
  return { url, token: await token(owner, { audience }), name: `${bootstrap.organization.name}/${image}` };
}

/** The catalog as soon as it is as wanted. */
async function catalog(
  reader: Database,
  digest: string,
  wanted: (row: Row<"image_catalogs">) => boolean,
): Promise<Row<"image_catalogs">> {
  return await eventually(async () => {
    const row = await reader.selectFrom("image_catalogs").selectAll().where("digest", "=", digest).executeTakeFirst();
    return row !== undefined && wanted(row) && row;
  });
}

const isDone = ({ state }: { state: number }): boolean => state === 2;
const isFailed = ({ state }: { state: number }): boolean => state === 3;

async function packagesOf(reader: Database, digest: string): Promise<unknown[]> {
  const rows = await reader
    .selectFrom("image_packages as i")
    .innerJoin("packages as p", "p.id", "i.package")
    .select(["i.n", "i.source", "i.layer", "i.path", "i.reader", "p.ecosystem", "p.source_name", "p.purl"])
    .where("i.digest", "=", digest)
    .orderBy("i.n")
    .execute();
  return rows.map((row) => Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value)));
}

test("what a pushed image holds is stored once for its digest, whichever repos have it", async (t) => {
  const platform = await start(t);
  const app = gzipSync(tarOf([npmFile("app", "lodash", "4.17.20")]));
  const digest = await pushLayers(await target(platform), "v1", [DEBIAN, app]);
  const done = await catalog(platform.reader, digest, isDone);
  assert.deepEqual([done.os_id, done.os_version, done.os_name, done.attempts], ["debian", "12", "Debian 12", 1]);
  const expected = [
    [
      0,
      "layers",
      digestOf(app),
      "app/node_modules/lodash/package.json",
      "npm",
      "npm",
      "lodash",
      "pkg:npm/lodash@4.17.20",
    ],
    [
      1,
      "layers",
      digestOf(DEBIAN),
      "var/lib/dpkg/status",
      "dpkg",
      "deb/debian-12",
      "openssl",
      "pkg:deb/debian/libssl3@3.0.11?arch=amd64&distro=debian-12",
    ],
  ];
  assert.deepEqual(await packagesOf(platform.reader, digest), expected);

  // Another repo has the same image, and another image one of its packages.
  await pushLayers(await target(platform, "other"), "v1", [DEBIAN, app]);
  const second = await pushLayers(await target(platform), "v2", [app]);
  await catalog(platform.reader, second, isDone);
  assert.equal((await catalog(platform.reader, digest, isDone)).attempts, 1);
  const count = async (): Promise<number> =>
    (await platform.reader.selectFrom("packages").select("purl").execute()).length;
  assert.equal(await count(), 2);
});

test("what earlier readers read is read again, and counts until there is more", async (t) => {
  const platform = await start(t);
  const to = await target(platform);
  const libraries = { "A/1.0.0": { type: "package" } };
  const app = tarOf([
    npmFile("app", "lodash", "4.17.20"),
    { path: "app.deps.json", content: JSON.stringify({ libraries }) },
  ]);
  const digest = await pushLayers(to, "v1", [DEBIAN, app]);
  const isRead = ({ readers }: Row<"image_catalogs">): boolean => Number(readers) > 0;
  await catalog(platform.reader, digest, isRead);
  const all = await packagesOf(platform.reader, digest);
  assert.equal(all.length, 3);
  // As an earlier program left it, which did not know packages of NuGet.
  await platform.transact(async (tx) => {
    await tx.deleteFrom("packages").where("ecosystem", "=", "nuget").execute();
    await tx.deleteFrom("image_packages").where("digest", "=", digest).where("path", "=", "app.deps.json").execute();
    await tx.updateTable("packages").set({ matched: 1 }).execute();
    await tx.updateTable("image_catalogs").set({ readers: 0, finish_time: 1 }).execute();
  });
  await catalog(platform.reader, digest, isRead);
  assert.deepEqual(await packagesOf(platform.reader, digest), all);
  // Packages that were there stay, and with them what was found in them before.
  const kept = await platform.reader.selectFrom("packages").select("name").where("matched", "=", 1).execute();
  assert.deepEqual(kept.map(({ name }) => name).toSorted(), ["libssl3", "lodash"]);

  // One that cannot be read again keeps what it has, and is given up.
  const before = await packagesOf(platform.reader, digest);
  await platform.transact(async (tx) => {
    await tx.deleteFrom("blobs").where("digest", "=", digestOf(app)).execute();
    await tx.updateTable("image_catalogs").set({ readers: 0 }).execute();
  });
  const given = await catalog(platform.reader, digest, ({ rereads, holder }) => Number(rereads) > 0 && holder === "");
  assert.deepEqual([given.state, Number(given.rereads), Number(given.readers)], [2, 3, 0]);
  assert.deepEqual(await packagesOf(platform.reader, digest), before);
});

test("a layer that is larger than the store reads at once is read to its end", async (t) => {
  const platform = await start(t);
  // What unpacks slower than it is read, with what is wanted behind it.
  const filler = Array.from({ length: 200 }, (_, n) => ({ path: `usr/lib/${n}.so`, content: randomBytes(64 << 10) }));
  const layer = tarOf([...filler, npmFile("app", "lodash", "4.17.20")]);
  for (const [tag, bytes] of [
    ["packed", gzipSync(layer, { level: 1 })],
    ["plain", layer],
  ] as const) {
    const digest = await pushLayers(await target(platform), tag, [bytes]);
    await catalog(platform.reader, digest, isDone);
    const purls = (await packagesOf(platform.reader, digest)).map((row) => (row as unknown[]).at(-1));
    assert.deepEqual(purls, ["pkg:npm/lodash@4.17.20"]);
  }
});

/** The reading processes of this one that leave the processor to all others: their nice value is 19. */
function lowProcesses(): string[] {
  return readdirSync("/proc").filter((pid) => {
    const path = `/proc/${pid}/stat`;
    if (!/^\d+$/.test(pid) || !existsSync(path)) return false;
    const stat = readFileSync(path, "utf8");
    // Source: proc_pid_stat(5): the name of the program, the second field, may have spaces in it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[1] === String(process.pid) && fields[16] === "19";
  });
}

test(
  "images are read by one process that leaves the processor to requests, one after another",
  { skip: !existsSync("/proc/self/stat") && "only Linux says what runs in /proc" },
  async (t) => {
    const platform = await start(t);
    const digest = await pushLayers(await target(platform), "v1", [DEBIAN]);
    await catalog(platform.reader, digest, isDone);
    const processes = lowProcesses();
    assert.equal(processes.length, 1);
    const second = await pushLayers(await target(platform), "v2", [tarOf([npmFile("app", "lodash", "4.17.20")])]);
    await catalog(platform.reader, second, isDone);
    assert.deepEqual(lowProcesses(), processes);
  },
);

test("a catalog goes when no repo has the image, and packages that no other image holds", async (t) => {
  const server = await openComposition(temporaryFolder(t), { MOORAGE_CATALOG_IMAGES: "1" });
  await using _server = server;
  await server.start();
  const { bootstrap } = server.installation;
  const { config, store, transactor, access } = server;
  const { token } = await access.tokens.mint({
    type: "access",
    identity: bootstrap.identity.uid,
    audiences: [new URL(config.baseUrl).host],
    ttlMs: 600_000,
    nowMs: Date.now(),
  });
  const place = (image: string): PushTarget => ({
    url: config.baseUrl,
    token,
    name: `${bootstrap.organization.name}/${image}`,
  });
  const both = await pushLayers(place("one"), "v1", [DEBIAN, tarOf([npmFile("app", "lodash", "4.17.20")])]);
  await pushLayers(place("two"), "v1", [DEBIAN, tarOf([npmFile("app", "lodash", "4.17.20")])]);
  const kept = await pushLayers(place("two"), "v2", [DEBIAN]);
  for (const digest of [both, kept]) await catalog(store.reader, digest, isDone);
  const removeFrom = async (image: string): Promise<{ catalogs: number }> => {
    const { url, name } = place(image);
    const answer = await fetch(`${url}/v2/${name}/manifests/${both}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    });
    assert.equal(answer.status, 202, await answer.text());
    const data = systemCall(Date.now());
    return await removeUnusedCatalogs({ transactor, data }, new AbortController().signal);
  };
  const purls = async (): Promise<string[]> =>
    (await store.reader.selectFrom("packages").select("purl").orderBy("purl").execute()).map(({ purl }) => purl);
  assert.deepEqual(await removeFrom("one"), { catalogs: 0 });
  assert.equal((await purls()).length, 2);
  assert.deepEqual(await removeFrom("two"), { catalogs: 1 });
  assert.deepEqual(await purls(), ["pkg:deb/debian/libssl3@3.0.11?arch=amd64&distro=debian-12"]);
  assert.deepEqual(await packagesOf(store.reader, both), []);
  assert.equal((await packagesOf(store.reader, kept)).length, 1);
});

test("an image that cannot be read has failed with the reason, and keeps no other from being read", async (t) => {
  const platform = await start(t);
  const place = await target(platform);
  const damaged = await pushLayers(place, "damaged", [Buffer.from("no archive at all")]);
  const statement = await pushLayers(place, "statement", [Buffer.from("{}")], "application/vnd.in-toto+json");
  const good = await pushLayers(place, "good", [DEBIAN]);
  await catalog(platform.reader, good, isDone);
  assert.match((await catalog(platform.reader, damaged, isFailed)).reason, /^layer sha256:\w+ is no tar archive/);
  assert.match((await catalog(platform.reader, statement, isFailed)).reason, /no image with file systems/);
});

test("an image that takes too long is ended and attempted again, three times at most", async (t) => {
  const platform = await start(t, { MOORAGE_CATALOG_TIMEOUT: "1ms" });
  // Long enough that no machine reads it within a millisecond, however late its timers are.
  const entry = (n: number): string =>
    `Package: p${n}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.0-${n}\n`;
  const content = Array.from({ length: 20_000 }, (_, n) => entry(n)).join("\n");
  const layer = tarOf([
    { path: "etc/os-release", content: "ID=debian\nVERSION_ID=12\n" },
    { path: "var/lib/dpkg/status", content },
  ]);
  const digest = await pushLayers(await target(platform), "slow", [layer]);
  for (const attempt of [1, 2]) {
    const row = await catalog(platform.reader, digest, ({ attempts, holder }) => attempts === attempt && holder === "");
    assert.equal(row.state, 1);
    assert.match(row.reason, /longer than 1 ms/);
    assert.deepEqual(await packagesOf(platform.reader, digest), []);
    await platform.transact((tx) => tx.updateTable("image_catalogs").set({ hold_until: 0 }).execute());
  }
  const failed = await catalog(platform.reader, digest, isFailed);
  assert.deepEqual([failed.attempts, failed.reason], [3, "reading it took longer than 1 ms"]);
});

test("a killed server leaves nothing half-read: the end is that of a run without kills", async (t) => {
  const files = Array.from({ length: 8_000 }, (_, n) => npmFile("app", `package-${n}`, "1.0.0"));
  const { servers, registry, url, bootstrap, env, replace } = await startReplicas(t, 1, {
    MOORAGE_CATALOG_IMAGES: "1",
  });
  assert.equal(servers.length, 1);
  const name = `${bootstrap.organization.name}/app`;
  const digest = await pushLayers({ url, token: registry, name }, "v1", [DEBIAN, tarOf(files)]);
  const store = await openStore(loadConfig(env));
  t.after(() => store.close());
  // In the middle of the reading or of the writing.
  await catalog(store.reader, digest, ({ attempts }) => attempts === 1);
  await replace(0);
  await catalog(store.reader, digest, isDone);
  const packages = (await packagesOf(store.reader, digest)) as [number, ...unknown[]][];
  assert.deepEqual(
    packages.map(([n]) => n),
    Array.from({ length: 8_001 }, (_, n) => n),
  );
  assert.equal(new Set(packages.map((row) => row.at(-1))).size, 8_001);
});
