import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import test from "node:test";
import { zipOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf } from "../../../server/test/support/catalog/catalog.ts";
import { classesIn, manifestOf, pomProperties, pomXml } from "../../../server/test/support/catalog/java.ts";

/** What is found in an archive at a path, and which archives in it are listed as unidentified. */
async function readJar(path: string, content: Uint8Array): Promise<{ purls: string[]; unidentified: string[] }> {
  const { components, unread } = await catalogOf([[{ path, content }]]);
  assert.deepEqual(
    unread.filter(({ kind }) => kind !== "UNIDENTIFIED"),
    [],
  );
  return { purls: components.map(({ purl }) => purl), unidentified: unread.map((each) => each.path).toSorted() };
}

test("an archive with parts of others in it lists these, and itself", async () => {
  const parts = {
    ...pomProperties("org.apache.commons", "commons-text", "1.9"),
    ...classesIn("org/apache/commons", 2),
  };
  const own = pomProperties("com.example", "shop", "2.0");
  assert.deepEqual(await readJar("shop-2.0.jar", zipOf({ ...parts, ...own })), {
    purls: ["pkg:maven/com.example/shop@2.0", "pkg:maven/org.apache.commons/commons-text@1.9"],
    unidentified: [],
  });
  // One that a tool built which writes no coordinates, by its name and by its manifest.
  for (const [path, manifest] of [
    ["shop-2.0.jar", {}],
    ["app.jar", manifestOf({ "Implementation-Title": "shop", "Implementation-Version": "2.0" })],
  ] as const)
    assert.deepEqual(await readJar(path, zipOf({ ...manifest, ...parts })), {
      purls: ["pkg:generic/shop@2.0", "pkg:maven/org.apache.commons/commons-text@1.9"],
      unidentified: [path],
    });
  // The only one in an archive that somebody has renamed is its own.
  const renamed = zipOf({ ...parts, ...manifestOf({ "Bundle-SymbolicName": "x", "Bundle-Version": "1.9.0" }) });
  assert.deepEqual((await readJar("text.jar", renamed)).unidentified, []);
});

test("a version that goes on in the name of the file is that of the file, a classifier is not", async () => {
  const files = {
    ...pomProperties("com.example", "driver", "10.2.0"),
    ...pomProperties("com.example.other", "part", "1.0"),
  };
  for (const [path, version] of [
    ["driver-10.2.0.jar", "10.2.0"],
    ["driver-10.2.0.jre8.jar", "10.2.0.jre8"],
    ["driver-10.2.0.Final.jar", "10.2.0.Final"],
    ["driver-10.2.0-jdk15.jar", "10.2.0"],
    ["driver-10.2.0.1.jar", "10.2.0"],
    ["driver-10.2.0.copy.jar", "10.2.0"],
    ["driver-10.2.0jre8.jar", "10.2.0"],
    ["part-10.2.0.jre8.jar", "10.2.0"],
  ] as const)
    assert.deepEqual(
      (await readJar(path, zipOf(files))).purls,
      [`pkg:maven/com.example.other/part@1.0`, `pkg:maven/com.example/driver@${version}`],
      path,
    );
});

test("a pom.xml counts where no pom.properties are, with what it has of its parent", async () => {
  const parent = "<parent><groupId>org.example</groupId><artifactId>all</artifactId><version>3</version></parent>";
  const files: Record<string, string>[] = [
    pomXml("org.example", "one", `<groupId>org.example</groupId><artifactId>one</artifactId><version>1.0</version>`),
    pomXml("org.example", "two", `${parent}<!-- <version>9</version> --><artifactId>two</artifactId>`),
    // Its version is a property, which the properties have.
    pomXml("org.example", "three", `${parent}<artifactId>three</artifactId><version>\${revision}</version>`),
    pomProperties("org.example", "three", "4"),
    // Not what it is, but what it needs.
    pomXml("org.example", "four", `<dependencies><dependency><groupId>a</groupId></dependency></dependencies>`),
    { "archetype/pom.xml": `<project>${parent}<artifactId>five</artifactId></project>` },
  ];
  assert.deepEqual((await readJar("all.jar", zipOf(Object.assign({}, ...files)))).purls, [
    "pkg:maven/org.example/one@1.0",
    "pkg:maven/org.example/three@4",
    "pkg:maven/org.example/two@3",
  ]);
});

test("a manifest gives coordinates only where they fit the file and its classes", async () => {
  const fields = (title: string, vendor: string, version: string): Record<string, string> =>
    manifestOf({
      "Implementation-Title": title,
      "Implementation-Vendor-Id": vendor,
      "Implementation-Version": version,
    });
  const rows: [path: string, files: Record<string, string>, purl: string][] = [
    ["lib/a.jar", fields("servlet", "org.eclipse", "3.1"), "pkg:maven/org.eclipse/servlet@3.1"],
    [
      "jackson-databind-2.13.0.jar",
      {
        ...fields("jackson-databind", "com.fasterxml.jackson.core", "2.13.0"),
        ...classesIn("com/fasterxml/jackson/a", 3),
      },
      "pkg:maven/com.fasterxml.jackson.core/jackson-databind@2.13.0",
    ],
    [
      "ribbon-core-2.2.2.jar",
      manifestOf({ "Implementation-Title": "com.netflix.ribbon#ribbon-core;2.2.2", "Implementation-Version": "2.2.2" }),
      "pkg:maven/com.netflix.ribbon/ribbon-core@2.2.2",
    ],
    // A company is not the group of all that it makes: this one is com.sun.mail.
    ["javax.mail-1.6.0.jar", { ...fields("javax.mail", "com.sun", "1.6.0"), ...classesIn("com/sun/mail/a", 3) }, ""],
    // The manifest is of something that was packed into it.
    ["shop-1.0.jar", fields("servlet", "org.eclipse", "3.1"), ""],
    ["bcprov-jdk18on-1.71.jar", fields("bcprov", "org.bouncycastle", "1.71.0"), ""],
    ["other.jar", { ...fields("servlet", "org.eclipse", "3.1"), ...classesIn("com/example/shop", 3) }, ""],
  ];
  for (const [path, files, purl] of rows) {
    const { purls, unidentified } = await readJar(path, zipOf(files));
    assert.deepEqual(
      purls.filter((each) => each.startsWith("pkg:maven/")),
      purl === "" ? [] : [purl],
      path,
    );
    assert.deepEqual(unidentified, purl === "" ? [path] : [], path);
  }
});

test("what says nothing of itself is listed, also inside of others; what only holds others is not", async () => {
  const bare = zipOf(classesIn("com/example/secret", 2));
  const war = zipOf({ "WEB-INF/lib/one.jar": bare, "WEB-INF/lib/dom4j-2.1.1.jar": bare, "WEB-INF/web.xml": "<x/>" });
  assert.deepEqual(await readJar("app.war", war), {
    purls: ["pkg:generic/dom4j@2.1.1"],
    unidentified: ["app.war!/WEB-INF/lib/dom4j-2.1.1.jar", "app.war!/WEB-INF/lib/one.jar"],
  });
  // That of every Java runtime.
  const java = manifestOf({
    "Specification-Title": "Java Platform API Specification",
    "Implementation-Title": "Java Runtime Environment",
    "Implementation-Version": "17.0.15",
  });
  assert.deepEqual(await readJar("usr/lib/jvm/lib/jrt-fs.jar", zipOf({ ...java, ...classesIn("jdk/internal", 2) })), {
    purls: ["pkg:generic/jrt-fs@17.0.15"],
    unidentified: [],
  });
});

test("archives behind a script are read, small and large, whatever their places count from", async () => {
  const script = Buffer.from(`#!/bin/sh\nexec java -jar "$0"\n${"# padding\n".repeat(1_000)}exit 1\n`);
  const inner = zipOf(pomProperties("org.example", "inner", "1"));
  for (const filling of [0, 9 * 1024 * 1024]) {
    const files = { ...pomProperties("org.example", "app", "1"), "BOOT-INF/lib/inner.jar": inner };
    const zip = zipOf({ ...files, "data.bin": randomBytes(filling) });
    const expected = { purls: ["pkg:maven/org.example/app@1", "pkg:maven/org.example/inner@1"], unidentified: [] };
    assert.deepEqual(await readJar("app.jar", Buffer.concat([script, zip])), expected);
    assert.deepEqual(await readJar("app.jar", Buffer.concat([script, movedBy(zip, script.length)])), expected);
  }
  // An end that lies about where the archive begins.
  const lies = Buffer.concat([script, inner]);
  lies.writeUInt32LE(0xffff_ff00, lies.length - 6);
  const { unread } = await catalogOf([[{ path: "lies.jar", content: lies }]]);
  assert.deepEqual(
    unread.map(({ path, kind }) => [path, kind]),
    [["lies.jar", undefined]],
  );
});

/** The zip archive with places that count from that many bytes before it. */
function movedBy(zip: Buffer, bytes: number): Buffer {
  const moved = Buffer.from(zip);
  const end = moved.lastIndexOf("PK\x05\x06");
  for (let at = moved.readUInt32LE(end + 16); at < end;) {
    moved.writeUInt32LE(moved.readUInt32LE(at + 42) + bytes, at + 42);
    at += 46 + moved.readUInt16LE(at + 28) + moved.readUInt16LE(at + 30) + moved.readUInt16LE(at + 32);
  }
  moved.writeUInt32LE(moved.readUInt32LE(end + 16) + bytes, end + 16);
  return moved;
}
