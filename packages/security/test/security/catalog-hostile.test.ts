import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { CatalogError } from "../../src/security/catalog/types.ts";
import { type TarEntry, tarOf, tarPart, zipOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf, npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { elfWith } from "../../../server/test/support/catalog/programs.ts";
import { rpmHeader, rpmNdb, rpmSqlite } from "../../../server/test/support/catalog/rpm.ts";

const MIB = 1024 * 1024;
const GOOD = npmFile("a", "good", "1.0.0");

async function failsWith(message: RegExp, ...input: Parameters<typeof catalogOf>): Promise<void> {
  await assert.rejects(catalogOf(...input), (error: Error) => {
    assert.ok(error instanceof CatalogError, error.message);
    assert.match(error.message, message);
    return true;
  });
}

test("a layer that unpacks without end is given up at the limit", async () => {
  const entry = tarPart([{ path: "zeros", content: Buffer.alloc(32 * MIB) }]);
  for (const bomb of [gzipSync(entry), zstdCompressSync(entry)])
    await failsWith(/unpacks to more than 8388608 bytes/, [[GOOD], bomb], { limits: { bytes: 8 * MIB } });
});

test("what follows the end of an archive is not read, however much it is", async () => {
  const zeros = gzipSync(
    Buffer.concat([tarOf([GOOD]), Buffer.alloc(32 * MIB), tarOf([npmFile("b", "late", "1.0.0")])]),
  );
  const { components } = await catalogOf([zeros], { limits: { bytes: 8 * MIB } });
  assert.deepEqual(
    components.map(({ name }) => name),
    ["good"],
  );
});

test("the numbers of entries and of packages are bounded, over all layers", async () => {
  const files = Array.from({ length: 60 }, (_, n) => ({ path: `file-${n}` }));
  assert.equal((await catalogOf([files, files], { limits: { entries: 120 } })).components.length, 0);
  await failsWith(/more than 119 entries/, [files, files], { limits: { entries: 119 } });
  const packages = [npmFile("a", "one", "1.0.0"), npmFile("a", "two", "1.0.0")];
  assert.equal((await catalogOf([packages], { limits: { packages: 2 } })).components.length, 2);
  await failsWith(/more than 1 packages/, [packages], { limits: { packages: 1 } });
});

test("a million files that nobody wants are passed over", async () => {
  const piece = tarPart(Array.from({ length: 1_000 }, (_, n) => ({ path: `folder/${n}` })));
  const layer = Buffer.concat([...Array.from({ length: 1_000 }, () => piece), tarOf([GOOD])]);
  assert.equal((await catalogOf([layer], { chunkBytes: MIB })).components.length, 1);
});

test("paths that leave the root, links and devices are never followed", async () => {
  const { content = "" } = GOOD;
  const entries: TarEntry[] = [
    { path: "../node_modules/up/package.json", content },
    { path: "a/../../node_modules/up/package.json", content },
    { path: "node_modules/link/package.json", type: "SymbolicLink", linkpath: "/etc/passwd" },
    { path: "node_modules/hard/package.json", type: "Link", linkpath: "../../etc/passwd" },
    { path: "node_modules/itself/package.json", type: "Link", linkpath: "node_modules/itself/package.json" },
    { path: "var/lib/dpkg/status", type: "CharacterDevice" },
    { path: "lib/apk/db/installed", type: "FIFO" },
    { path: `${"d/".repeat(3_000)}node_modules/deep/package.json`, content },
    { path: "/absolute/node_modules/ok/package.json", content },
    { path: "./", type: "Directory" },
  ];
  const { components } = await catalogOf([entries]);
  assert.deepEqual(
    components.map(({ path }) => path),
    ["absolute/node_modules/ok/package.json"],
  );
});

test("damaged layers end with a reason", async () => {
  const gzip = gzipSync(tarOf([GOOD, { path: "more", content: randomBytes(100_000) }]));
  await failsWith(/cannot be unpacked/, [gzip.subarray(0, gzip.length - 40)]);
  const broken = Buffer.from(gzip);
  broken.fill(0xaa, 60, 90);
  await failsWith(/cannot be unpacked|no tar archive/, [broken]);
  await failsWith(/no tar archive/, [Buffer.alloc(4096, "no archive ")]);
  await failsWith(/no tar archive/, [Buffer.from("layer")]);
  await failsWith(/no tar archive/, [tarOf([GOOD]).subarray(0, 600)]);
  await failsWith(/packed twice/, [gzipSync(gzip)]);
  // A header of the format is not held when it is large.
  const header = tarPart([{ path: "PaxHeader", type: "ExtendedHeader", content: Buffer.alloc(2 * MIB, "1") }]);
  assert.equal((await catalogOf([Buffer.concat([header, tarOf([GOOD])])])).components.length, 1);
});

test("a file too large for its reader is named", async () => {
  const { unread } = await catalogOf([[{ ...GOOD, content: Buffer.alloc(5 * MIB) }]]);
  assert.deepEqual(unread, [{ path: GOOD.path, layer: "layer-0", reason: "it has more than 4194304 bytes" }]);
});

test("files above what memory holds lie in the temporary folder only while they are read", async () => {
  const status = `Package: bash\nVersion: 5.2\nDescription: ${"x".repeat(12 * MIB)}\n\nPackage: last\nVersion: 1\n`;
  const { components } = await catalogOf([[{ path: "var/lib/dpkg/status", content: status }]]);
  assert.deepEqual(
    components.map(({ name }) => name),
    ["bash", "last"],
  );
  // It is left half-read.
  const whole = tarOf([{ path: "var/lib/dpkg/status", content: status }]);
  await failsWith(/no tar archive/, [whole.subarray(0, 10 * MIB)]);
});

test("reading ends when it is aborted", async () => {
  const reason = new Error("enough");
  await assert.rejects(catalogOf([[GOOD]], { signal: AbortSignal.abort(reason) }), reason);
});

const HEADER = rpmHeader({ 1000: "bash", 1001: "5.2", 1002: "1", 1022: "x86_64" });
const RPM = "var/lib/rpm/rpmdb.sqlite";

/** Why the file is not read; that nothing is found in it. */
async function unreadReason(path: string, content: string | Uint8Array, mode?: number): Promise<string> {
  const { components, unread } = await catalogOf([[{ path, content, ...(mode !== undefined && { mode }) }]]);
  assert.deepEqual(components, []);
  assert.deepEqual(
    unread.map((each) => each.path),
    [path],
  );
  return unread[0]?.reason ?? "";
}

/** Hard links to one file, as an archive of few bytes has them. */
function linksTo(target: string, count: number): TarEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    path: `${n}/node_modules/link/package.json`,
    type: "Link",
    linkpath: target,
  }));
}

test("packages that hard links name again count as packages, and their paths as text", async () => {
  const jar = zipOf(
    Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [
        `META-INF/maven/org.example/part-${n}/pom.properties`,
        `groupId=org.example\nartifactId=part-${n}\nversion=1.0\n`,
      ]),
    ),
  );
  const links = Array.from({ length: 1_000 }, (_, n) => ({
    path: `opt/${n}.jar`,
    type: "Link" as const,
    linkpath: "opt/all.jar",
  }));
  const layer = tarOf([{ path: "opt/all.jar", content: jar }, ...links]);
  assert.ok(gzipSync(layer).length < 64 * 1024);
  // 300,300 packages.
  await failsWith(/more than 200000 packages/, [layer]);
  // The links of all layers together, also to files below.
  const one = [GOOD, ...linksTo(GOOD.path, 40)];
  assert.equal((await catalogOf([one, linksTo(GOOD.path, 40)], { limits: { packages: 81 } })).components.length, 41);
  const two = [one, linksTo(GOOD.path, 40).map((each) => ({ ...each, path: `other/${each.path}` }))];
  await failsWith(/more than 80 packages/, two, { limits: { packages: 80 } });
  await failsWith(/more than 1000 characters/, two, { limits: { characters: 1_000 } });
});

test("a link to what its layer replaced does not bring back what lay below", async () => {
  const link: TarEntry = { path: "z/node_modules/link/package.json", type: "Link", linkpath: GOOD.path };
  const { components } = await catalogOf([[GOOD], [{ ...GOOD, content: "no longer a package" }, link]]);
  assert.deepEqual(components, []);
});

test("an rpm database holds what rpm creates and nothing else, or it is not read", async () => {
  const index =
    "create table 'Name' (key 'TEXT' NOT NULL, hnum INTEGER NOT NULL, idx INTEGER NOT NULL, FOREIGN KEY (hnum) REFERENCES 'Packages'(hnum));" +
    "create index 'Name_key_idx' on 'Name'(key ASC); create index if not exists 'Name_hnum_idx' ON 'Name'(hnum ASC);";
  const { components, unread } = await catalogOf([[{ path: RPM, content: rpmSqlite([HEADER], index) }]]);
  assert.deepEqual([components.length, unread], [1, []]);

  const endless = "instr(zeroblob(40000000), cast(zeroblob(20000000) || x'01' as blob))";
  for (const more of [
    `alter table Packages add column t generated always as (${endless})`,
    `drop table Packages; create table Packages (hnum integer primary key, blob blob generated always as (${endless}))`,
    "create view v as select * from Packages",
    "create trigger t after insert on Packages begin select 1; end",
    "create virtual table v using fts5(text)",
    "create index i on Packages (hex(blob))",
    "create index i on Packages (hnum) where hex(blob) <> ''",
    "create table other (id integer primary key, text text default (hex(randomblob(8))))",
    "create table Packages_2 (hnum integer primary key autoincrement, blob blob not null, check (length(blob) > 0))",
  ])
    assert.match(await unreadReason(RPM, rpmSqlite([], more)), /is not as rpm creates it/, more);
});

test("a database of SQLite is read from pages of any size, with rows over many of them", async () => {
  const headers = Array.from({ length: 400 }, (_, n) =>
    rpmHeader({ 1000: `package-${n}`, 1001: "1", 1002: "1", 1004: "x".repeat((n * 97) % 9_000) }),
  );
  headers.push(rpmHeader({ 1000: "large", 1001: "1", 1002: "1", 1004: "x".repeat(2 * MIB) }));
  for (const bytes of [512, 1_024, 4_096, 65_536]) {
    const content = rpmSqlite(headers, `pragma journal_mode = delete; pragma page_size = ${bytes}; vacuum;`);
    assert.equal(content.readUInt16BE(16) % 65_535, bytes % 65_535);
    const { components, unread } = await catalogOf([[{ path: RPM, content }]]);
    assert.deepEqual(unread, []);
    assert.equal(components.length, 401, `pages of ${bytes} bytes`);
  }
});

test("pages of a database that lead in circles, or nowhere, end the reading of that file", async () => {
  const whole = rpmSqlite(Array.from({ length: 400 }, () => HEADER));
  const root = 2;
  assert.equal(whole[(root - 1) * 4096], 0x05, "the table has more than one page");
  const circle = Buffer.from(whole);
  // All children of the root, and of each of its children, are the root's first child, which gets the root's own form.
  const child = circle.readUInt32BE((root - 1) * 4096 + circle.readUInt16BE((root - 1) * 4096 + 12));
  circle.copy(circle, (child - 1) * 4096, (root - 1) * 4096, root * 4096);
  assert.match(await unreadReason(RPM, circle), /the database is damaged/);
  assert.match(await unreadReason(RPM, whole.subarray(0, whole.length - 4096)), /shorter than it says/);
  for (let at = 100; at < 2 * 4096; at += 211) {
    const broken = Buffer.from(whole);
    broken.fill(0xff, at, at + 9);
    // Whatever it is taken for, it ends, and is not lost without a word.
    const { components, unread } = await catalogOf([[{ path: RPM, content: broken }]]);
    assert.ok(components.length > 0 || unread.length > 0, `at ${at}`);
  }
});

test("places in rpm's own database that lie upon each other are not read again and again", async () => {
  const large = rpmHeader({ 1000: "large", 1001: "1", 1002: "1", 1004: "x".repeat(MIB) });
  const content = rpmNdb([large, ...Array.from({ length: 200 }, () => HEADER)]);
  // All slots name the first package, which has their number.
  for (let n = 0; n < 201; n++) {
    content.writeUInt32LE(1, 32 + n * 16 + 4);
    content.writeUInt32LE(256, 32 + n * 16 + 8);
  }
  assert.match(await unreadReason("usr/lib/sysimage/rpm/Packages.db", content), /a package is damaged/);
});

test("a program that says to be made of a million modules has more than an image may have", async () => {
  const modules = Buffer.from(`mod\tx\tv1\n${"dep\ta\tv1\n".repeat(1_000_000)}`);
  const text = Buffer.concat([Buffer.alloc(16, 1), modules, Buffer.alloc(16, 1)]);
  const varint: number[] = [];
  for (let left = text.length; left > 0; left = Math.floor(left / 128))
    varint.push((left % 128) + (left >= 128 ? 128 : 0));
  const magic = Buffer.alloc(32);
  magic.write("\xff Go buildinf:", 0, "latin1");
  magic[15] = 2;
  const info = Buffer.concat([magic, Buffer.from([8]), Buffer.from("go1.25.0"), Buffer.from(varint), text]);
  const program = elfWith({ ".go.buildinfo": info });
  await failsWith(/more than 200000 packages/, [[{ path: "bin/program", content: program, mode: 0o755 }]]);
});

test("lists of crates in programs count for the image, all of them together, and each has a limit", async () => {
  const list = (bytes: number): Buffer => elfWith({ ".dep-v0": deflateSync(Buffer.alloc(bytes, " ")) });
  const programs = Array.from({ length: 20 }, (_, n) => ({ path: `bin/${n}`, mode: 0o755, content: list(MIB) }));
  await failsWith(/unpacks to more than 16777216 bytes/, [programs], { limits: { bytes: 16 * MIB } });
  assert.match(await unreadReason("bin/large", list(9 * MIB), 0o755), /larger than 8388608 bytes/);
});

test("files of languages at the limits of their readers are read, or named as not read", async () => {
  const files: TarEntry[] = [
    { path: "usr/specifications/a-1.gemspec", content: Buffer.alloc(4 * MIB, 's.name = "') },
    { path: "lib/a/ebin/a.app", content: `{application,a,[{description,"${"\\x".repeat(2 * MIB)}` },
    { path: "lib/b/ebin/b.app", content: "{".repeat(4 * MIB) },
    { path: "lib/R/a/DESCRIPTION", content: `Package: a\nVersion: 1\nBuilt: R 4\nLicense: x\n${" y\n".repeat(MIB)}` },
    { path: "app/vendor/composer/installed.json", content: `{"packages":[${"{},".repeat(4_000_000)}{}]}` },
    { path: "conda-meta/a.json", content: `{"name":"a","version":"1","files":[${"[],".repeat(4_000_000)}[]]}` },
    { path: "app/.pnp.cjs", content: `RAW_RUNTIME_STATE =\n'${"\\\n".repeat(4 * MIB)}'` },
    { path: "web/.pnp.cjs", content: `return hydrateRuntimeState({${"{".repeat(8 * MIB)}` },
    { path: "usr/a.egg", content: zipOf({ "EGG-INFO/PKG-INFO": Buffer.alloc(9 * MIB, "x") }) },
    { path: "app/.yarn/cache/a.zip", content: zipOf({ "node_modules/a/package.json": Buffer.alloc(5 * MIB, " ") }) },
    { path: "app/pom.jar", content: zipOf({ "META-INF/maven/g/a/pom.xml": "<a>".repeat(300_000), "A.class": "" }) },
  ];
  const { components, unread } = await catalogOf([files], { chunkBytes: MIB });
  const seen = [...components, ...unread].map((each) => each.path);
  assert.deepEqual([...new Set(seen)].toSorted(), files.map((file) => file.path).toSorted());
  // What these archives unpack to counts for the image.
  await failsWith(/unpacks to more than 4194304 bytes/, [files.slice(-3, -2)], { limits: { bytes: 4 * MIB } });
});

test("archives inside of archives count for the image, all of them together", async () => {
  const jar = zipOf({ "META-INF/MANIFEST.MF": "x".repeat(600_000) });
  const files = Array.from({ length: 20 }, (_, n) => ({ path: `${n}.jar`, content: jar }));
  assert.equal((await catalogOf([files], { limits: { bytes: 16 * MIB, entries: 40 } })).components.length, 0);
  await failsWith(/unpacks to more than 8388608 bytes/, [files], { limits: { bytes: 8 * MIB } });
  await failsWith(/more than 39 entries/, [files], { limits: { entries: 39 } });
});

test("the numbers of layers, and of folders in which packages lie, are bounded", async () => {
  await failsWith(/more than 2 layers/, [[GOOD], [GOOD], [GOOD]], { limits: { layers: 2 } });
  const deep = Array.from({ length: 10 }, (_, n) => npmFile(`${n}/${"d/".repeat(100)}app`, "deep", "1.0.0"));
  assert.equal((await catalogOf([deep], { limits: { folders: 1_040 } })).components.length, 10);
  await failsWith(/lie in more than 1000 folders/, [deep], { limits: { folders: 1_000 } });
});

test("packages with texts that no package has are left out, counted and said", async () => {
  const long = "x".repeat(2_000);
  const status = [
    "Package: good\nVersion: 1\n",
    `Package: ${long}\nVersion: 1\n`,
    `Package: long-version\nVersion: ${long}\n`,
    `Package: ${"n".repeat(300)}\nVersion: 1\n`,
  ].join("\n");
  const path = "var/lib/dpkg/status";
  const { components, unread } = await catalogOf([[{ path, content: status }]]);
  assert.deepEqual(
    components.map(({ name }) => name),
    ["good"],
  );
  assert.deepEqual(
    unread.map((each) => [each.path, /^\d+/.exec(each.reason)?.[0]]),
    [[path, "3"]],
  );
});

test("of files that are not read a thousand are named, and the others counted", async () => {
  const files = Array.from({ length: 1_200 }, (_, n) => ({ path: `${n}.jar`, content: "PK no archive at all" }));
  const { unread } = await catalogOf([files]);
  assert.equal(unread.length, 1_001);
  assert.deepEqual(unread.at(-1), { path: "", layer: "", reason: "200 more files" });
});
