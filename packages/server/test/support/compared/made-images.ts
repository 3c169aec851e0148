// Roots of images in the form that package managers leave them, of kinds for which nothing is fetched.
import type { TarEntry } from "../catalog/archives.ts";
import { rpmHeader, rpmSqlite } from "../catalog/rpm.ts";

/** An image, and files with the same packages for osv-scanner, by the name of its parser. */
export interface WrittenImage {
  files: readonly TarEntry[];
  locks: Readonly<Record<string, string>>;
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

/** As dpkg writes them. `source`: `name (version)`, where it is not the package's own. */
function dpkg(name: string, version: string, source = "", state = "install ok installed"): string {
  const lines = [`Package: ${name}`, `Status: ${state}`, "Priority: required", "Architecture: amd64"];
  if (source !== "") lines.push(`Source: ${source}`);
  return `${[...lines, `Version: ${version}`, "Depends: libc6 (>= 2.38)", "Description: of packages", " Version: 0"].join("\n")}\n`;
}

const TRIXIE = [
  dpkg("base-files", "13.8+deb13u1"),
  dpkg("bash", "5.2.37-2+b5", "bash (5.2.37-2)"),
  dpkg("libc6", "2.41-12", "glibc"),
  dpkg("libssl3t64", "3.5.1-1", "openssl"),
  dpkg("perl-base", "5.40.1-6", "perl"),
  dpkg("zlib1g", "1:1.3.dfsg+really1.3.1-1+b1", "zlib (1:1.3.dfsg+really1.3.1-1)"),
  dpkg("login", "1:4.16.0-2+really2.41-5", "util-linux (2.41-5)"),
  dpkg("removed", "1.0-1", "", "deinstall ok config-files"),
  dpkg("unpacked", "1.0~rc1-1", "", "install ok unpacked"),
].join("\n");

const apk = (name: string, version: string, origin: string): string =>
  `C:Q1${name}=\nP:${name}\nV:${version}\nA:x86_64\nS:1\nI:1\nT:of packages\nL:MIT\no:${origin}\nm:A <a@example.com>\nt:1\nc:0\nF:usr\nR:V:0\n`;

const ALPINE = [
  apk("alpine-baselayout", "3.6.5-r0", "alpine-baselayout"),
  apk("busybox", "1.36.1-r29", "busybox"),
  apk("ssl_client", "1.36.1-r29", "busybox"),
  apk("libcrypto3", "3.3.2-r1", "openssl"),
  apk("musl", "1.2.5_git20240512-r1", "musl"),
  apk("zlib", "1.3.1-r1", "zlib"),
].join("\n");

/** Name, version, release, architecture, name of the source, and the epoch if there is one. */
const RPMS: [string, string, string, string, string, number?][] = [
  ["bash", "5.1.8", "9.el9", "x86_64", "bash-5.1.8-9.el9.src.rpm"],
  ["openssl-libs", "3.2.2", "6.el9_5", "x86_64", "openssl-3.2.2-6.el9_5.src.rpm", 1],
  ["glibc", "2.34", "125.el9_5.1", "x86_64", "glibc-2.34-125.el9_5.1.src.rpm"],
  ["tzdata", "2024b", "2.el9", "noarch", "tzdata-2024b-2.el9.src.rpm"],
  ["zlib", "1.2.11", "40.el9", "x86_64", "zlib-1.2.11-40.el9.src.rpm"],
];

function rpm([name, version, release, architecture, source, epoch]: (typeof RPMS)[number]): Buffer {
  const tags: Record<number, string | number> = {
    1000: name,
    1001: version,
    1002: release,
    1011: "Rocky Enterprise Software Foundation",
    1014: "MIT",
    1022: architecture,
    1044: source,
  };
  if (epoch !== undefined) tags[1003] = epoch;
  return rpmHeader(tags);
}

const PHP = {
  packages: [
    { name: "monolog/monolog", version: "2.8.0", license: ["MIT"] },
    { name: "symfony/http-kernel", version: "v5.4.19", license: ["MIT"] },
    { name: "Twig/Twig", version: "3.4.3" },
  ],
  "packages-dev": [],
};

const NUGET: [name: string, version: string][] = [
  ["Newtonsoft.Json", "13.0.1"],
  ["System.Text.Encodings.Web", "4.5.0"],
  ["Microsoft.Data.SqlClient", "5.1.0-preview1.22279.3"],
];

const CONDA: [name: string, version: string, build: string][] = [
  ["openssl", "3.1.2", "h7f8727e_0"],
  ["numpy", "1.24.3", "py311h08b1b3b_1"],
];

const DEBIAN_13 =
  'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nNAME="Debian GNU/Linux"\nVERSION_ID="13"\nVERSION_CODENAME=trixie\nID=debian\n';

export const WRITTEN: Readonly<Record<string, WrittenImage>> = {
  trixie: {
    files: [
      { path: "etc/os-release", content: DEBIAN_13 },
      { path: "etc/debian_version", content: "13.1\n" },
      { path: "var/lib/dpkg/status", content: TRIXIE },
    ],
    locks: { "dpkg-status": TRIXIE },
  },
  distroless: {
    files: [
      {
        path: "etc/os-release",
        content: 'PRETTY_NAME="Distroless"\nNAME="Debian GNU/Linux"\nID="debian"\nVERSION_ID="12"\n',
      },
      { path: "etc/debian_version", content: "12.5\n" },
      ...Object.entries({
        "base-files": dpkg("base-files", "12.4+deb12u5"),
        libssl3: dpkg("libssl3", "3.0.11-1~deb12u2", "openssl"),
        tzdata: dpkg("tzdata", "2024a-0+deb12u1"),
      }).flatMap(([name, content]) => [
        { path: `var/lib/dpkg/status.d/${name}`, content },
        { path: `var/lib/dpkg/status.d/${name}.md5sums`, content: "d41d8cd98f00b204e9800998ecf8427e  etc/name\n" },
      ]),
    ],
    locks: {
      "dpkg-status": [
        dpkg("base-files", "12.4+deb12u5"),
        dpkg("libssl3", "3.0.11-1~deb12u2", "openssl"),
        dpkg("tzdata", "2024a-0+deb12u1"),
      ].join("\n"),
    },
  },
  alpine: {
    files: [
      {
        path: "etc/os-release",
        content: 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\nPRETTY_NAME="Alpine Linux v3.20"\n',
      },
      { path: "etc/alpine-release", content: "3.20.3\n" },
      { path: "lib/apk/db/installed", content: ALPINE },
    ],
    locks: { "apk-installed": ALPINE },
  },
  rpm: {
    files: [
      {
        path: "etc/os-release",
        content: 'NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.5"\n',
      },
      { path: "etc/rocky-release", content: "Rocky Linux release 9.5 (Blue Onyx)\n" },
      { path: "etc/redhat-release", content: "Rocky Linux release 9.5 (Blue Onyx)\n" },
      {
        path: "var/lib/rpm/rpmdb.sqlite",
        content: rpmSqlite(RPMS.map(rpm)),
      },
    ],
    locks: {},
  },
  composer: {
    files: [{ path: "app/vendor/composer/installed.json", content: json({ ...PHP, dev: false }) }],
    locks: { "composer.lock": json(PHP) },
  },
  dotnet: {
    files: [
      {
        path: "app/Shop.deps.json",
        content: json({
          runtimeTarget: { name: ".NETCoreApp,Version=v8.0" },
          libraries: {
            "Shop/1.0.0": { type: "project", serviceable: false },
            ...Object.fromEntries(NUGET.map(([name, version]) => [`${name}/${version}`, { type: "package" }])),
          },
        }),
      },
    ],
    locks: {
      "packages.lock.json": json({
        version: 1,
        dependencies: {
          "net8.0": Object.fromEntries(NUGET.map(([name, resolved]) => [name, { type: "Direct", resolved }])),
        },
      }),
    },
  },
  conda: {
    files: CONDA.map(([name, version, build]) => ({
      path: `opt/conda/conda-meta/${name}-${version}-${build}.json`,
      content: json({ name, version, build, channel: "https://conda.example.com/main/linux-64", files: [] }),
    })),
    locks: {},
  },
};
