import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import type { Unread } from "../../src/security/catalog/types.ts";
import { tarOf, zipOf } from "../support/catalog/archives.ts";
import { classesIn, type JarFiles, manifestOf, pomProperties } from "../support/catalog/java.ts";
import { newRepoPlace, type Place } from "../support/catalog/place.ts";
import { pushLayers } from "../support/catalog/push.ts";
import { osvOf, putRecords } from "../support/feed-records.ts";
import { type Platform, startPlatform } from "../support/platform.ts";

// What becomes of archives that say too little of themselves, by what feeds know before and after an image is pushed.

let platform: Platform;
let place: Place;

before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  place = await newRepoPlace(platform, token);
});
after(() => platform.close());

const SPRING: JarFiles = {
  ...manifestOf({ "Implementation-Title": "spring-core", "Implementation-Version": "5.3.20" }),
  ...classesIn("org/springframework/core", 3),
};
const TOMCAT: JarFiles = {
  ...manifestOf({ "Bundle-SymbolicName": "org.apache.tomcat-embed-core", "Implementation-Version": "9.0.70" }),
  ...classesIn("org/apache/tomcat/util", 3),
};
const SECRET = classesIn("com/example/secret", 2);

function affecting(id: string, ...names: string[]): ReturnType<typeof osvOf> {
  const ranges = [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed: "10" }] }];
  return osvOf(id, { affected: names.map((name) => ({ package: { ecosystem: "Maven", name }, ranges })) });
}

/** Pushes an image of these files and answers its digest when it has been read. */
async function pushed(tag: string, files: Record<string, Uint8Array>): Promise<string> {
  const entries = Object.entries(files).map(([path, content]) => ({ path, content }));
  const digest = await pushLayers(place, tag, [tarOf(entries)]);
  await until(async () => {
    const query = platform.reader.selectFrom("image_catalogs").select("state").where("digest", "=", digest);
    return (await query.executeTakeFirst())?.state === 2;
  });
  return digest;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let left = 1_200; !(await holds()); left--) {
    assert.ok(left > 0, "it did not come");
    await wait(50);
  }
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
  await until(async () => (await findingsIn(digest)).length === 1);
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
  await until(async () => (await findingsIn(digest)).length === 2);
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
  await until(async () => (await findingsIn(digest)).length === 1);
});
