import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { zipOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf, purlsOf } from "../../../server/test/support/catalog/catalog.ts";
import { buildGo, elfWith } from "../../../server/test/support/catalog/programs.ts";

test("npm packages are found where they are installed, and nowhere else", async () => {
  const file = (path: string, content: object): { path: string; content: string } => ({
    path,
    content: JSON.stringify(content),
  });
  const files = [
    file("app/package.json", { name: "app", version: "1.0.0" }),
    file("app/node_modules/lodash/package.json", { name: "lodash", version: "4.17.20", license: "MIT" }),
    file("app/node_modules/@babel/core/package.json", { name: "@babel/core", version: "7.1.0" }),
    file("app/node_modules/lodash/fp/package.json", { name: "inner", version: "1.0.0" }),
    file("app/node_modules/a/node_modules/b/package.json", {
      name: "b",
      version: "v2.0.0",
      licenses: [{ type: "ISC" }],
    }),
    file("app/node_modules/nameless/package.json", { version: "1.0.0" }),
    { path: "app/node_modules/broken/package.json", content: "{" },
    { path: "app/node_modules/deep/package.json", content: `${"[".repeat(100_000)}` },
  ];
  const { components, unread } = await catalogOf([files]);
  assert.deepEqual(
    components.map(({ purl, name, licence }) => [purl, name, licence]),
    [
      ["pkg:npm/%40babel/core@7.1.0", "@babel/core", ""],
      ["pkg:npm/b@2.0.0", "b", "ISC"],
      ["pkg:npm/lodash@4.17.20", "lodash", "MIT"],
    ],
  );
  assert.deepEqual(
    unread.map(({ path }) => path),
    ["app/node_modules/broken/package.json", "app/node_modules/deep/package.json"],
  );
});

test("Python distributions are found in each form of their metadata", async () => {
  const lib = "usr/lib/python3.12/site-packages";
  const metadata = (name: string, more = ""): string =>
    `Metadata-Version: 2.1\r\nName: ${name}\r\nVersion: 1.2.0\r\n${more}\r\nName: in-the-body\n`;
  const files = [
    {
      path: `${lib}/Zope.Interface-1.2.0.dist-info/METADATA`,
      content: metadata("Zope.Interface", "License: ZPL-2.1\r\n"),
    },
    { path: `${lib}/six-1.2.0.egg-info`, content: metadata("six") },
    { path: `${lib}/old_name-1.2.0.egg-info/PKG-INFO`, content: metadata("old_name", "License: Long\r\n text\r\n") },
    { path: `${lib}/Zope.Interface-1.2.0.dist-info/RECORD`, content: metadata("record") },
  ];
  const { components } = await catalogOf([files]);
  assert.deepEqual(
    components.map(({ purl, licence }) => [purl, licence]),
    [
      ["pkg:pypi/zope-interface@1.2.0", "ZPL-2.1"],
      ["pkg:pypi/old-name@1.2.0", ""],
      ["pkg:pypi/six@1.2.0", ""],
    ],
  );
});

const properties = (group: string, artifact: string, version: string): Record<string, string> => ({
  [`META-INF/maven/${group}/${artifact}/pom.properties`]: `#Generated\ngroupId=${group}\nartifactId=${artifact}\nversion=${version}\n`,
});

test("Java archives are found by what Maven wrote, in nested archives too", async () => {
  const core = zipOf(properties("org.apache.logging.log4j", "log4j-core", "2.14.1"));
  const shaded = zipOf({ ...properties("a", "one", "1"), ...properties("b", "two", "2"), "x/App.class": "code" });
  const war = zipOf({
    "WEB-INF/lib/log4j-core.jar": core,
    "WEB-INF/lib/shaded.jar": shaded,
    "WEB-INF/web.xml": "<x/>",
  });
  const { components, unread } = await catalogOf([[{ path: "srv/app.war", content: war }]]);
  assert.deepEqual(unread, []);
  assert.deepEqual(
    components.map(({ purl, path }) => [purl, path]),
    [
      ["pkg:maven/a/one@1", "srv/app.war!/WEB-INF/lib/shaded.jar"],
      ["pkg:maven/b/two@2", "srv/app.war!/WEB-INF/lib/shaded.jar"],
      ["pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1", "srv/app.war!/WEB-INF/lib/log4j-core.jar"],
    ],
  );
});

test("without that, the manifest names the archive; a group is not guessed", async () => {
  const manifest = (lines: string): Buffer => zipOf({ "META-INF/MANIFEST.MF": `Manifest-Version: 1.0\r\n${lines}` });
  const files = [
    {
      path: "a.jar",
      content: manifest(
        "Implementation-Title: servlet\r\nImplementation-Vendor-Id: org.ecl\r\n ipse\r\nImplementation-Version: 3.1\r\n\r\nName: x\r\n",
      ),
    },
    { path: "b.jar", content: manifest("Bundle-SymbolicName: org.osgi.core;singleton:=true\nBundle-Version: 6.0\n") },
    { path: "c.jar", content: manifest("Implementation-Title: Without a version\n") },
  ];
  assert.deepEqual(await purlsOf(files), ["pkg:maven/org.eclipse/servlet@3.1", "pkg:generic/org.osgi.core@6.0"]);
});

test("archives nested 20 deep, or damaged, are named and do not end the reading", async () => {
  let nested = zipOf(properties("deep", "deepest", "1"));
  for (let n = 0; n < 20; n++) nested = zipOf({ ...properties("level", `n${n}`, "1"), "lib/inner.jar": nested });
  const bomb = zipOf({ "big.jar": Buffer.alloc(1024) });
  // The directory says that the entry is as small as the archive of it.
  bomb.writeUInt32LE(10, bomb.lastIndexOf("PK\x01\x02") + 24);
  const files = [
    { path: "deep.jar", content: nested },
    { path: "cut.jar", content: nested.subarray(0, nested.length / 2) },
    { path: "lies.jar", content: bomb },
    { path: "ok.jar", content: zipOf(properties("fine", "fine", "1")) },
  ];
  const { components, unread } = await catalogOf([files]);
  const names = components.map(({ name }) => name);
  assert.ok(names.includes("level:n19") && names.includes("fine:fine") && !names.includes("deep:deepest"));
  assert.deepEqual(
    unread.map(({ path }) => path),
    ["deep.jar", "cut.jar", "lies.jar"],
  );
  assert.match(unread[0]?.reason ?? "", /more than 8 deep/);
});

test("crates that cargo auditable wrote into a program are found, without those of the build", async () => {
  const list = {
    packages: [
      { name: "tool", version: "0.1.0", source: "local", root: true },
      { name: "serde", version: "1.0.200", source: "crates.io" },
      { name: "cc", version: "1.0.0", source: "crates.io", kind: "build" },
      { name: "sibling", version: "0.1.0", source: "local" },
    ],
  };
  const program = elfWith({ ".dep-v0": deflateSync(JSON.stringify(list)) });
  const { components } = await catalogOf([
    [
      { path: "bin/tool", content: program, mode: 0o755 },
      { path: "bin/hard-link", type: "Link", linkpath: "bin/tool" },
      { path: "share/not-executable", content: program },
    ],
  ]);
  assert.deepEqual(
    components.map(({ purl, path, reader }) => `${purl} ${path} ${reader}`),
    [
      "pkg:cargo/serde@1.0.200 bin/hard-link rust",
      "pkg:cargo/tool@0.1.0 bin/hard-link rust",
      "pkg:cargo/serde@1.0.200 bin/tool rust",
      "pkg:cargo/tool@0.1.0 bin/tool rust",
    ],
  );
  const damaged = elfWith({ ".dep-v0": Buffer.from("no deflate") });
  const { unread } = await catalogOf([[{ path: "bin/damaged", content: damaged, mode: 0o755 }]]);
  assert.equal(unread[0]?.path, "bin/damaged");
});

test("modules of Go programs are found in ELF, Mach-O and PE", async (t) => {
  const built = await buildGo(["linux/amd64", "darwin/arm64", "windows/amd64"]);
  if (built === undefined) return t.skip("go is not installed: install it to test programs that it builds");
  for (const [target, { content, release }] of Object.entries(built)) {
    const path = target.startsWith("windows") ? "app.exe" : "usr/bin/app";
    assert.deepEqual(
      await purlsOf([{ path, content, mode: 0o755 }]),
      ["pkg:golang/example.com/Dep/sub@v1.2.3", `pkg:golang/stdlib@${release}`],
      target,
    );
    const { components } = await catalogOf([[{ path, content: content.subarray(0, 2000), mode: 0o755 }]]);
    assert.deepEqual(components, [], `${target}, cut`);
  }
});
