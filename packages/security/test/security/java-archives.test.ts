import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { readJavaIndex } from "../../src/security/catalog/java-index.ts";
import type { Unread } from "../../src/security/catalog/types.ts";
import { tarOf, zipOf } from "../../../server/test/support/catalog/archives.ts";
import { classesIn, type JarFiles, manifestOf, pomProperties } from "../../../server/test/support/catalog/java.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// What becomes of archives that say too little of themselves, by what feeds know before and after an image is pushed.

const SPRING: JarFiles = {
  ...manifestOf({ "Implementation-Title": "spring-core", "Implementation-Version": "5.3.20" }),
  ...classesIn("org/springframework/core", 3),
};
const TOMCAT: JarFiles = {
  ...manifestOf({ "Bundle-SymbolicName": "org.apache.tomcat-embed-core", "Implementation-Version": "9.0.70" }),
  ...classesIn("org/apache/tomcat/util", 3),
};
/** Archives in the operator's index; the second has no name and no version. */
const OWN = zipOf({ ...manifestOf({ "Implementation-Version": "7" }), ...classesIn("com/example/own", 2) });
const BARE = zipOf(classesIn("com/example/bare", 2));
const SECRET = classesIn("com/example/secret", 2);

let platform: Platform;
let place: Place;
let folder: string;

before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "moorage-index-"));
  const index = path.join(folder, "index.txt");
  const lines = [OWN, BARE].map((archive, n) => `${sha1Of(archive)}  com.example:own-${n}:1.0`);
  writeFileSync(index, `# What our own builds are.\n\n${lines.join("\r\n")}\n`);
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_JAVA_INDEX_FILE: index });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  place = await newRepoPlace(platform, token);
});
after(async () => {
  await platform.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});

function affecting(id: string, ...names: string[]): ReturnType<typeof osvOf> {
  const ranges = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "10" }] }];
  return osvOf(id, { affected: names.map((name) => ({ package: { ecosystem: "Maven", name }, ranges })) });
}

/** Pushes an image of these files and answers its digest when it has been read. */
async function pushed(tag: string, files: Record<string, Uint8Array>): Promise<string> {
  const entries = Object.entries(files).map(([path, content]) => ({ path, content }));
  const digest = await pushLayers(place, tag, [tarOf(entries)]);
  await eventually(async () => {
    const query = platform.reader.selectFrom("image_catalogs").select("state").where("digest", "=", digest);
    return (await query.executeTakeFirst())?.state === 2;
  });
  return digest;
}

/** The purls of the SBOM. */
async function purlsIn(digest: string): Promise<string[]> {
  const { document } = await platform.ok("GET", `/registry/v2/repos/${place.repo}/digests/${digest}/sbom`);
  const { components } = document as { components: { purl?: string }[] };
  return components.flatMap(({ purl }) => purl ?? []).toSorted();
}

async function unidentifiedIn(digest: string): Promise<string[]> {
  const query = platform.reader.selectFrom("image_catalogs").select("unread").where("digest", "=", digest);
  const unread = JSON.parse((await query.executeTakeFirstOrThrow()).unread) as Unread[];
  assert.ok(unread.every(({ kind, sha1 }) => kind === "UNIDENTIFIED" && /^[0-9a-f]{40}$/.test(sha1 ?? "")));
  return unread.map(({ path }) => path).toSorted();
}

async function findingsIn(digest: string): Promise<string[]> {
  const { findings } = await platform.ok("GET", `/vulnerabilities/v2/findings?repo=${place.repo}&digest=${digest}`);
  return (findings as { vulnerability: string; package: { purl: string } }[])
    .map((each) => `${each.vulnerability} ${each.package.purl}`)
    .toSorted();
}

test("archives are identified when a feed knows them, which comes after the image", async () => {
  const app = zipOf({
    ...pomProperties("com.example", "app", "1"),
    "BOOT-INF/lib/spring-core-5.3.20.jar": zipOf(SPRING),
    "BOOT-INF/lib/secret.jar": zipOf(SECRET),
  });
  const digest = await pushed("before", { "app.jar": app, "lib/tomcat-embed-core-9.0.70.jar": zipOf(TOMCAT) });
  const secret = "app.jar!/BOOT-INF/lib/secret.jar";
  const spring = "app.jar!/BOOT-INF/lib/spring-core-5.3.20.jar";
  assert.deepEqual(await unidentifiedIn(digest), [secret, spring, "lib/tomcat-embed-core-9.0.70.jar"]);
  assert.deepEqual(await purlsIn(digest), [
    "pkg:generic/spring-core@5.3.20",
    "pkg:generic/tomcat-embed-core@9.0.70",
    "pkg:maven/com.example/app@1",
  ]);
  await putRecords(platform, "osv", "osv", [affecting("GHSA-aaaa-0000-0001", "org.springframework:spring-core")]);
  await eventually(async () => (await findingsIn(digest)).length === 1);
  assert.deepEqual(await findingsIn(digest), ["GHSA-aaaa-0000-0001 pkg:maven/org.springframework/spring-core@5.3.20"]);
  assert.deepEqual(await purlsIn(digest), [
    "pkg:generic/tomcat-embed-core@9.0.70",
    "pkg:maven/com.example/app@1",
    "pkg:maven/org.springframework/spring-core@5.3.20",
  ]);
  assert.deepEqual(await unidentifiedIn(digest), [secret, "lib/tomcat-embed-core-9.0.70.jar"]);
  // A change of something else identifies nothing, one of the other archive does.
  await putRecords(platform, "osv", "osv", [affecting("GHSA-aaaa-0000-0002", "org.example:tomcat-embed")]);
  const name = "org.apache.tomcat.embed:tomcat-embed-core";
  await putRecords(platform, "osv", "osv", [affecting("GHSA-aaaa-0000-0003", name)]);
  await eventually(async () => (await findingsIn(digest)).length === 2);
  assert.deepEqual(await unidentifiedIn(digest), [secret]);
  // Packages that no image holds any more are gone.
  const left = await platform.reader.selectFrom("packages").select("purl").where("purl", "like", "pkg:generic/%");
  assert.deepEqual(await left.execute(), []);
});

test("archives are identified when they are read by what feeds know already", async () => {
  await putRecords(platform, "osv", "osv", [affecting("GHSA-aaaa-0000-0004", "dom4j:dom4j", "org.dom4j:dom4j")]);
  const digest = await pushed("after", {
    "lib/spring-core-5.3.20.jar": zipOf({ ...SPRING, "another.txt": "file" }),
    "lib/dom4j-2.1.1.jar": zipOf(classesIn("org/dom4j/tree", 3)),
  });
  // Of dom4j two groups are known, and it is never guessed which.
  assert.deepEqual(await unidentifiedIn(digest), ["lib/dom4j-2.1.1.jar"]);
  assert.deepEqual(await purlsIn(digest), [
    "pkg:generic/dom4j@2.1.1",
    "pkg:maven/org.springframework/spring-core@5.3.20",
  ]);
  await eventually(async () => (await findingsIn(digest)).length === 1);
});

test("archives are what the operator's index says of their sums", async () => {
  const war = zipOf({ "WEB-INF/lib/own.jar": OWN, "WEB-INF/lib/other-2.0.jar": zipOf(SECRET) });
  const digest = await pushed("index", { "app.war": war, "lib/bare.jar": BARE });
  assert.deepEqual(await purlsIn(digest), [
    "pkg:generic/other@2.0",
    "pkg:maven/com.example/own-0@1.0",
    "pkg:maven/com.example/own-1@1.0",
  ]);
  assert.deepEqual(await unidentifiedIn(digest), ["app.war!/WEB-INF/lib/other-2.0.jar"]);
});

test("an index that cannot be read ends the start with its line", () => {
  const file = path.join(folder, "wrong.txt");
  for (const [text, problem] of [
    [`# fine\n${"a".repeat(40)} com.example:one\n`, /line 2 is not a SHA-1/],
    [`${"g".repeat(40)} com.example:one:1\n`, /line 1/],
    [`${"a".repeat(40)} com.example:one:1 more\n`, /line 1/],
  ] as const) {
    writeFileSync(file, text);
    assert.throws(() => readJavaIndex({ javaIndexFile: file }), problem);
  }
  const none = path.join(folder, "none");
  assert.throws(() => readJavaIndex({ javaIndexFile: none }), /MOORAGE_JAVA_INDEX_FILE.*cannot be read/);
});

function sha1Of(content: Uint8Array): string {
  return createHash("sha1").update(content).digest("hex");
}
