import assert from "node:assert/strict";
import test from "node:test";
import { catalogOf, purlsOf } from "../../../server/test/support/catalog/catalog.ts";
import { rpmHeader, rpmNdb, rpmSqlite } from "../../../server/test/support/catalog/rpm.ts";

const DEBIAN = { path: "etc/os-release", content: 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12"\n' };

const STATUS = `Package: libssl3
Status: install ok installed
Architecture: amd64
Source: openssl
Version: 3.0.11-1~deb12u2
Description: Secure Sockets Layer
 Source: not-a-field

Package: gcc-12-base
Status: hold ok installed
Architecture: amd64
Source: gcc-12 (12.2.0-14)
Version: 12.2.0-14+b1

Package: tzdata
Status: install ok installed
Architecture: all
Version: 1:2024a-0

Package: removed
Status: deinstall ok config-files
Architecture: all
Version: 1.0
`;

test("packages of dpkg are found with their source packages, and removed ones are not", async () => {
  const { os, components } = await catalogOf([[DEBIAN, { path: "./var/lib/dpkg/status", content: STATUS }]]);
  assert.deepEqual(os, { id: "debian", versionId: "12", prettyName: "Debian GNU/Linux 12" });
  assert.deepEqual(
    components.map(({ purl, version, sourceName, sourceVersion, path, layer, reader }) => [
      purl,
      version,
      `${sourceName} ${sourceVersion}`,
      `${path} ${layer} ${reader}`,
    ]),
    [
      [
        "pkg:deb/debian/gcc-12-base@12.2.0-14%2Bb1?arch=amd64&distro=debian-12",
        "12.2.0-14+b1",
        "gcc-12 12.2.0-14",
        "var/lib/dpkg/status layer-0 dpkg",
      ],
      [
        "pkg:deb/debian/libssl3@3.0.11-1~deb12u2?arch=amd64&distro=debian-12",
        "3.0.11-1~deb12u2",
        "openssl 3.0.11-1~deb12u2",
        "var/lib/dpkg/status layer-0 dpkg",
      ],
      [
        "pkg:deb/debian/tzdata@1:2024a-0?arch=all&distro=debian-12",
        "1:2024a-0",
        "tzdata 1:2024a-0",
        "var/lib/dpkg/status layer-0 dpkg",
      ],
    ],
  );
});

test("a distroless image has a file for each package", async () => {
  const status = "Package: base-files\nVersion: 12.4\nArchitecture: amd64\n";
  const files = [
    { path: "usr/lib/os-release", content: "ID='debian'\nVERSION_ID=12" },
    { path: "var/lib/dpkg/status.d/base", content: status },
    { path: "var/lib/dpkg/status.d/base.md5sums", content: status.replace("base-files", "sums") },
    { path: "home/var/lib/dpkg/status", content: status.replace("base-files", "elsewhere") },
  ];
  assert.deepEqual(await purlsOf(files), ["pkg:deb/debian/base-files@12.4?arch=amd64&distro=debian-12"]);
});

test("packages of apk are found with their origin and licence", async () => {
  const installed = `C:Q1qKcZ+j23xssAXmgQhkOO8dHnbWw=
P:libcrypto3
V:3.3.1-r0
A:x86_64
L:Apache-2.0
o:openssl
F:lib
R:libcrypto.so.3

P:musl
V:1.2.5-r0
A:x86_64
L:MIT
`;
  const os = { path: "etc/os-release", content: "ID=alpine\nVERSION_ID=3.20.1\n" };
  for (const path of ["lib/apk/db/installed", "usr/lib/apk/db/installed"]) {
    const { components } = await catalogOf([[os, { path, content: installed }]]);
    assert.deepEqual(
      components.map(({ purl, sourceName, sourceVersion, licence }) => [purl, sourceName, sourceVersion, licence]),
      [
        ["pkg:apk/alpine/libcrypto3@3.3.1-r0?arch=x86_64&distro=alpine-3.20.1", "openssl", "3.3.1-r0", "Apache-2.0"],
        ["pkg:apk/alpine/musl@1.2.5-r0?arch=x86_64&distro=alpine-3.20.1", "musl", "1.2.5-r0", "MIT"],
      ],
    );
  }
});

const OPENSSL = rpmHeader({
  1000: "openssl-libs",
  1001: "3.0.7",
  1002: "27.el9",
  1003: 1,
  1014: "ASL 2.0",
  1022: "x86_64",
  1044: "openssl-3.0.7-27.el9.src.rpm",
});
const BASH = rpmHeader({ 1000: "bash", 1001: "5.1.8", 1002: "9.el9", 1022: "x86_64" });
const KEY = rpmHeader({ 1000: "gpg-pubkey", 1001: "fd431d51", 1002: "4ae0493b" });
const RHEL = { path: "etc/os-release", content: 'ID="rhel"\nVERSION_ID="9.4"\n' };

test("packages of rpm are found in its SQLite database and in its own", async () => {
  const files: [string, Buffer][] = [
    ["var/lib/rpm/rpmdb.sqlite", rpmSqlite([OPENSSL, BASH, KEY])],
    ["usr/lib/sysimage/rpm/rpmdb.sqlite", rpmSqlite([OPENSSL, BASH, KEY])],
    ["var/lib/rpm/Packages.db", rpmNdb([OPENSSL, BASH, KEY])],
    ["usr/lib/sysimage/rpm/Packages.db", rpmNdb([OPENSSL, BASH, KEY])],
  ];
  for (const [path, content] of files) {
    const { components, unread } = await catalogOf([[RHEL, { path, content }]]);
    assert.deepEqual(unread, []);
    assert.deepEqual(
      components.map(({ purl, version, sourceName, sourceVersion, licence }) => [
        purl,
        version,
        `${sourceName} ${sourceVersion}`,
        licence,
      ]),
      [
        ["pkg:rpm/redhat/bash@5.1.8-9.el9?arch=x86_64&distro=rhel-9.4", "5.1.8-9.el9", "bash 5.1.8-9.el9", ""],
        [
          "pkg:rpm/redhat/openssl-libs@3.0.7-27.el9?arch=x86_64&distro=rhel-9.4&epoch=1",
          "1:3.0.7-27.el9",
          "openssl 1:3.0.7-27.el9",
          "ASL 2.0",
        ],
      ],
    );
  }
});

test("an rpm database that is not read is named, with why", async () => {
  const files = [
    { path: "var/lib/rpm/Packages", content: "BerkeleyDB" },
    { path: "usr/lib/sysimage/rpm/Packages.db", content: Buffer.alloc(5000, "RpmP") },
    {
      path: "var/lib/rpm/rpmdb.sqlite",
      content: rpmSqlite([], "drop table Packages; create view Packages as select 1 as blob"),
    },
    { path: "usr/lib/sysimage/rpm/rpmdb.sqlite", content: rpmSqlite([OPENSSL.subarray(0, 40)]) },
    { path: "var/lib/rpm/rpmdb.sqlite-wal", content: "log" },
  ];
  const { components, unread } = await catalogOf([files]);
  assert.deepEqual(components, []);
  assert.deepEqual(
    unread.map(({ path, reason }) => `${path}: ${reason}`),
    [
      "var/lib/rpm/Packages: an rpm database of BerkeleyDB is not read",
      "usr/lib/sysimage/rpm/Packages.db: it cannot be read: it is no database of rpm",
      "var/lib/rpm/rpmdb.sqlite: it cannot be read: it has no table of packages",
      "usr/lib/sysimage/rpm/rpmdb.sqlite: it cannot be read: an rpm header is damaged",
      "var/lib/rpm/rpmdb.sqlite-wal: the newest changes of the rpm database are in a log that is not read",
    ],
  );
});
