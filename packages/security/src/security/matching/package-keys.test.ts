import assert from "node:assert/strict";
import { test } from "node:test";
import { type ImageComponent, lookupsOf, packageKey, versionOrder } from "./package-keys.ts";

const DEBIAN = { id: "debian", version: "12" };
const UBUNTU = { id: "ubuntu", version: "22.04" };
const component = (type: string, name: string, more: Partial<ImageComponent> = {}): ImageComponent => ({
  type,
  name,
  version: "1",
  ...more,
});

test("a record and a component of the same package meet under one key", () => {
  const pairs: [ecosystem: string, name: string, ImageComponent][] = [
    ["npm", "left-pad", component("npm", "left-pad")],
    ["npm", "@Scope/Name", component("npm", "Name", { namespace: "@Scope" })],
    ["PyPI", "Zope.Interface_x", component("pypi", "zope-interface-x")],
    ["Maven", "org.Apache:log4j", component("maven", "log4j", { namespace: "org.Apache" })],
    ["Go", "github.com/BurntSushi/toml", component("golang", "toml", { namespace: "github.com/burntsushi" })],
    ["Go", "gopkg.in/yaml.v3", component("golang", "yaml.v3", { namespace: "gopkg.in" })],
    ["Go", "stdlib", component("golang", "stdlib")],
    ["crates.io", "serde_json", component("cargo", "serde_json")],
    ["Packagist", "Symfony/HTTP-Kernel", component("composer", "http-kernel", { namespace: "symfony" })],
    ["RubyGems", "RedCloth", component("gem", "RedCloth")],
    ["NuGet", "Newtonsoft.Json", component("nuget", "newtonsoft.json")],
    ["Hex", "phoenix_live_view", component("hex", "phoenix_live_view")],
    ["CRAN", "jsonlite", component("cran", "jsonlite")],
    ["Pub", "http_parser", component("pub", "http_parser")],
    ["SwiftURL", "github.com/Apple/swift-nio", component("swift", "swift-nio", { namespace: "github.com/apple" })],
    [
      "SwiftURL",
      "https://github.com/apple/swift-nio.git",
      component("swift", "swift-nio", { namespace: "github.com/apple" }),
    ],
    ["Debian:12", "openssl", component("deb", "libssl3", { sourceName: "openssl", distribution: DEBIAN })],
    ["Debian:12", "openssl", component("deb", "openssl", { namespace: "debian", distribution: DEBIAN })],
    [
      "Debian:12",
      "curl",
      component("deb", "curl", { sourceName: "", sourceVersion: "", distribution: { id: "debian", version: "12.5" } }),
    ],
    ["Ubuntu:22.04:LTS", "curl", component("deb", "curl", { distribution: UBUNTU })],
    ["Ubuntu:24.10", "curl", component("deb", "curl", { distribution: { id: "ubuntu", version: "24.10" } })],
    [
      "Alpine:v3.20",
      "musl",
      component("apk", "musl-utils", { sourceName: "musl", distribution: { id: "alpine", version: "3.20.3" } }),
    ],
    ["Wolfi", "git", component("apk", "git", { distribution: { id: "wolfi", version: "20230201" } })],
    [
      "Chainguard",
      "git",
      component("apk", "git", { namespace: "wolfi", distribution: { id: "chainguard", version: "1" } }),
    ],
    [
      "Red Hat:enterprise_linux:9::baseos",
      "bash",
      component("rpm", "bash", { namespace: "redhat", distribution: { id: "rhel", version: "9.4" } }),
    ],
    ["Rocky Linux:9", "bash", component("rpm", "bash", { distribution: { id: "rocky", version: "9.4" } })],
    ["AlmaLinux:9", "bash", component("rpm", "bash", { distribution: { id: "almalinux", version: "9.4" } })],
  ];
  for (const [ecosystem, name, found] of pairs) {
    const key = packageKey({ ecosystem, name });
    assert.ok(key !== undefined && versionOrder(key) !== undefined, ecosystem);
    assert.equal(lookupsOf(found)[0]?.key, key, ecosystem);
  }
});

test("keys are stored, so that they stay as they are", () => {
  assert.equal(packageKey({ ecosystem: "Debian:12", name: "openssl" }), "debian:12/openssl");
  assert.equal(packageKey({ ecosystem: "Ubuntu:Pro:18.04:LTS", name: "openssl" }), "ubuntu-pro:18.04/openssl");
  assert.equal(packageKey({ ecosystem: "Red Hat:enterprise_linux:8::appstream", name: "a" }), "redhat:8/a");
  assert.equal(packageKey({ ecosystem: "Alpine:v3.20", name: "musl" }), "alpine:3.20/musl");
  assert.equal(packageKey({ ecosystem: "Wolfi", name: "git" }), "wolfi/git");
  assert.equal(packageKey({ ecosystem: "PyPI", name: "A__b" }), "pypi/a-b");
  assert.equal(packageKey({ ecosystem: "Go", name: "github.com/A/b" }), "go/github.com/a/b");
  assert.equal(packageKey({ ecosystem: "Packagist", name: "A/b" }), "packagist/a/b");
  assert.equal(packageKey({ ecosystem: "NuGet", name: "A.B" }), "nuget/a.b");
  assert.equal(packageKey({ ecosystem: "RubyGems", name: "A" }), "rubygems/A");
  assert.equal(packageKey({ ecosystem: "Hex", name: "a" }), "hex/a");
  assert.equal(packageKey({ ecosystem: "CRAN", name: "A3" }), "cran/A3");
  assert.equal(packageKey({ ecosystem: "Pub", name: "a_b" }), "pub/a_b");
  assert.equal(packageKey({ ecosystem: "SwiftURL", name: "github.com/A/b" }), "swift/github.com/a/b");
});

test("releases of Debian are known by name as well, which is what Debian's tracker has", () => {
  const keyOf = (release: string): string | undefined => packageKey({ ecosystem: `Debian:${release}`, name: "curl" });
  assert.equal(keyOf("bookworm"), "debian:12/curl");
  for (const release of ["sid", "constructor", ""]) assert.equal(keyOf(release), undefined, release);
});

test("nothing meets by name alone, nor across distributions and releases", () => {
  const nowhere: ImageComponent[] = [
    component("deb", "curl"),
    component("deb", "curl", { distribution: { id: "debian", version: "" } }),
    component("deb", "curl", { distribution: { id: "kali", version: "2024.1" } }),
    component("deb", "curl", { namespace: "ubuntu", distribution: DEBIAN }),
    component("apk", "curl", { distribution: DEBIAN }),
    component("apk", "curl", { distribution: { id: "alpine", version: "3.21.0_alpha20240923" } }),
    component("rpm", "curl", { distribution: { id: "centos", version: "7" } }),
    component("generic", "curl", { distribution: DEBIAN }),
  ];
  for (const each of nowhere) assert.deepEqual(lookupsOf(each), [], JSON.stringify(each));
  const ecosystems = [
    ..."Debian Debian: Ubuntu Ubuntu:Pro:FIPS:22.04:LTS Alpine Alpine:edge npm:x GIT OSS-Fuzz pypi".split(" "),
    "Rocky Linux",
    "Red Hat",
    "Red Hat:rhel_eus:9.2::baseos",
    "Red Hat:openshift:4.12::el9",
  ];
  for (const ecosystem of ecosystems) assert.equal(packageKey({ ecosystem, name: "curl" }), undefined, ecosystem);
  assert.equal(packageKey({ ecosystem: "npm", name: "" }), undefined);
  assert.equal(versionOrder("centos:7/curl"), undefined);
});

test("debs and apks are looked up by source, RPMs by both, with the version that counts there", () => {
  const openssl = { name: "libssl3", version: "3.0.11-1+b2", sourceName: "openssl", sourceVersion: "3.0.11-1" };
  assert.deepEqual(lookupsOf(component("deb", "libssl3", { ...openssl, distribution: DEBIAN })), [
    { key: "debian:12/openssl", version: "3.0.11-1" },
  ]);
  const epoch = { version: "1:2.0-1", sourceVersion: "2.0-1", distribution: DEBIAN };
  assert.deepEqual(lookupsOf(component("deb", "a", epoch)), [{ key: "debian:12/a", version: "2.0-1" }]);
  assert.deepEqual(lookupsOf(component("deb", "a", { ...epoch, sourceVersion: "" })), [
    { key: "debian:12/a", version: "1:2.0-1" },
  ]);
  const rpm = { version: "1:3.0.7-27.el9", sourceName: "openssl", sourceVersion: "3.0.7-27.el9" };
  assert.deepEqual(
    lookupsOf(component("rpm", "openssl-libs", { ...rpm, distribution: { id: "rhel", version: "9.4" } })),
    [
      { key: "redhat:9/openssl", version: "1:3.0.7-27.el9" },
      { key: "redhat:9/openssl-libs", version: "1:3.0.7-27.el9" },
    ],
  );
});

test("Ubuntu is looked up in Ubuntu Pro, too, and what came from Pro only there", () => {
  const keys = (version: string): string[] =>
    lookupsOf(component("deb", "curl", { version, distribution: UBUNTU })).map(({ key }) => key);
  assert.deepEqual(keys("7.81.0-1ubuntu1"), ["ubuntu:22.04/curl", "ubuntu-pro:22.04/curl"]);
  assert.deepEqual(keys("7.81.0-1ubuntu1+esm1"), ["ubuntu-pro:22.04/curl"]);
});

test("versions of Go are written as in records", () => {
  const written = {
    "v1.2.3": "1.2.3",
    "1.2.3": "1.2.3",
    "v2.0.0+incompatible": "2.0.0+incompatible",
    "go1.22.3": "1.22.3",
    "go1.22": "1.22.0",
    "go1.22rc1": "1.22.0-rc.1",
    "go1.22.3 X:boringcrypto": "1.22.3",
    "go1.22.3-custom": "1.22.3",
    "(devel)": "(devel)",
    "devel go1.23-abc": "devel go1.23-abc",
  };
  for (const [version, expected] of Object.entries(written))
    assert.deepEqual(lookupsOf(component("golang", "stdlib", { version })), [{ key: "go/stdlib", version: expected }]);
});

test("a purl stands for a missing ecosystem, of a language's package alone", () => {
  const keyOf = (purl: string): string | undefined => packageKey({ ecosystem: "", name: "x", purl });
  assert.equal(keyOf("pkg:npm/%40scope/name@1.0.0"), "npm/@scope/name");
  assert.equal(keyOf("pkg:maven/org.apache/log4j"), "maven/org.apache:log4j");
  assert.equal(keyOf("pkg:golang/github.com/BurntSushi/toml@v1.0.0"), "go/github.com/burntsushi/toml");
  assert.equal(keyOf("pkg:pypi/Zope_Interface"), "pypi/zope-interface");
  for (const purl of ["pkg:deb/debian/curl", "pkg:oci/image", "npm/x", ""]) assert.equal(keyOf(purl), undefined, purl);
});
