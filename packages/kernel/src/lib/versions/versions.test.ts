import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { compareVersions, isVersion, type VersionOrder } from "./index.ts";

const ORDERS: readonly VersionOrder[] = [
  "dpkg",
  "apk",
  "rpm",
  "semver",
  "pypi",
  "maven",
  "composer",
  "rubygems",
  "nuget",
  "cran",
  "pub",
];

/** Versions from the earliest to the latest; those of one text, between spaces, are the same. */
const ASCENDING: Readonly<Record<VersionOrder, readonly string[]>> = {
  dpkg: [
    "1.0~~",
    "1.0~rc1-1",
    "1.0 0:1.0 1.0-0",
    "1.0-1~bpo1",
    "1.0-1 01.00-01",
    "1.0a",
    "1.0+dfsg",
    "1.2",
    "1.10",
    "1:0",
  ],
  apk: [
    "a",
    "1_alpha",
    "1_alpha2",
    "1_rc1",
    "1-ruff 1_foo",
    "1",
    "1-r0 1-r",
    "1-r2",
    "1-r10",
    "1~0a",
    "1~0b",
    "1_git1",
    "1_p1",
    "1a",
    "1.01",
    "1.1",
  ],
  rpm: [
    "1~rc1",
    "1~rc1^git",
    "1 1.",
    "1-1~a",
    "1-1 1-01",
    "1-1.el9",
    "1^git1",
    "1.a 1_a 1+a",
    "1.0 1.00",
    "1.1",
    "1:0",
  ],
  semver: [
    "",
    "latest",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0 v1.0.0 1 v1.0 1.0.0+x",
    "1.2.0",
    "1.10.0",
  ],
  pypi: [
    "",
    "latest",
    "x1-a x1a",
    "1.dev1",
    "1a1 1.alpha-1 1.0.0a1",
    "1rc1 1c1 1pre1",
    "1 v1 1.0 01",
    "1+a",
    "1+1",
    "1.post1 1-1",
    "1.2",
    "1.10",
    "1!0",
  ],
  maven: [
    "1.rc",
    "1-alpha-1 1a1",
    "1-beta",
    "1-m1 1-milestone-1",
    "1-rc 1-CR",
    "1-SNAPSHOT",
    "1 1.0 1-ga 1.Final",
    "1-sp",
    "1-x 1.0-x 1.0x",
    "1-1",
    "1.0.1",
    "1.1",
    "1.10",
  ],
  // PHP's version_compare, and Composer's documentation of how versions are normalized.
  composer: [
    "",
    "dev-main",
    "latest",
    "1.0-dev 1.0.0.0-dev 1.0-stable-dev",
    "1.0-alpha 1.0a v1.0.0.0-ALPHA",
    "1.0-alpha1-dev",
    "1.0a1 1.0.0-alpha.1",
    "1.0b1",
    "1.0-beta2 1.0.0-beta.2 1.0_b2",
    "1.0-beta2.1 1.0-b.2.1",
    "1.0-beta10",
    "1.0RC1 1.0rc1",
    "1 1.0 1.0.0 v1.0.0.0 1.0.0+build 1.0.0-stable",
    "1.0pl1 1.0-patch1 1.0-p1",
    "1.0.0.1",
    "1.2",
    "1.10.9999999",
    "1.10.x-dev 1.10.9999999.9999999-dev",
    "1.x-dev",
    "2010.1.2",
    "20100102",
  ],
  // Gem::Version: 1.0 is later than 1.0.b1, that is later than 1.0.a.2, and that is later than 0.9.
  rubygems: [
    "",
    "latest",
    "0 0.0",
    "0.9",
    "1.a 1.0.a 1.0.0.a.0",
    "1.0.a.2",
    "1.0.b1",
    "1.0.b10",
    "1.0.pre.rc1 1.0-rc1 1-rc.1",
    "1.0.rc1",
    "1.0 1 1.0.0",
    "1.0.0.1",
    "1.2",
    "1.10",
  ],
  // NuGet's documentation: the order of pre-releases, and what normalized version numbers are.
  nuget: [
    "",
    "latest",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-a",
    "1.0.0-a.1",
    "1.0.0 1 1.00 1.0.0.0 1.0.00 1.0+r3456 1.0.0+x.y",
    "1.0.0.1 1.00.0.1",
    "1.0.1-aaa",
    "1.0.1-alpha10 1.0.1-ALPHA10",
    "1.0.1-alpha2",
    "1.0.1-beta",
    "1.0.1-open",
    "1.0.1-rc.2",
    "1.0.1-rc.10",
    "1.0.1-zzz",
    "1.0.1 1.0.01.0",
    "1.1.1 1.01.1",
    "1.10.0",
  ],
  // R's documentation of numeric_version.
  cran: ["", "latest", "0.9", "0.75 0-75", "1", "1.0 1-0 01.0", "1.0.0 1.0-0", "1.0.1", "1.2.3", "1.2.4", "1.10"],
  // Dart's documentation: metadata counts.
  pub: [
    "",
    "latest",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-rc.1",
    "1.0.0-rc.1+build.1",
    "1.0.0",
    "1.0.0+0.3.7",
    "1.0.0+1",
    "1.0.0+10",
    "1.0.0+10.1",
    "1.0.0+build",
    "1.2.0",
    "1.10.0",
  ],
};

for (const order of ORDERS)
  test(`${order}: versions follow each other`, () => {
    const groups = ASCENDING[order].map((each) => each.split(" "));
    for (const [at, group] of groups.entries())
      for (const a of group)
        for (const [other, versions] of groups.entries())
          for (const b of versions) assert.equal(compareVersions(order, a, b), Math.sign(at - other), `${a} and ${b}`);
  });

test("what is a version, each order says", () => {
  const said: Record<VersionOrder, [yes: string[], no: string[]]> = {
    dpkg: [
      ["1", "1:2.3~rc1-1+b1", "2024a-0", "1:1:2-1", "1-2-3"],
      ["", "a", "1:", "1_2", "1:a", "x:1", "1 2", "1-", "1.α"],
    ],
    apk: [
      ["1", "1.2.3a_rc1_p2-r10", "9.5_p1", "1.9.5p2-r0", "1~0a-r1"],
      ["", "1.", ".1", "1..2", "1-r", "1_foo", "v1", "1.2A", "1-1"],
    ],
    rpm: [
      ["1", "0:1.2~rc1^git-3.el9", "a_b+c"],
      ["", "1-2-3", "1:", "1 2", "a:1", "1.α", "1-"],
    ],
    semver: [
      ["1.2.3", "v1.2.3-rc.1+build", "1", "v1.2", "2.0.0+incompatible", "0.0.0-20210101000000-abcdef012345"],
      [
        "",
        "latest",
        "1.2.3.4",
        "1.2.x",
        "^1.2.3",
        "01.2.3",
        "1.2.3-",
        "1.9007199254740993.0",
        `1.0.0-${"a".repeat(256)}`,
      ],
    ],
    pypi: [
      ["1", "1!1.0rc1.post2.dev3+local.4", "v1.0-1"],
      ["", "1.x", "latest", "1.0+", "1..2", "==1", "1".repeat(257)],
    ],
    maven: [
      ["1", "1.0-SNAPSHOT", "Finchley.SR2", "r09", "1.0+3-abc", "1~rc1", "1!2", "a=b", "1.0$1", "1@beta"],
      ["", "[1,2)", "1 2", "${version}"],
    ],
    composer: [
      ["1", "v1.2.3", "1.2.3.4", "1.0-beta.2-dev", "1.0RC1", "1.0.x-dev", "2010-01-02", "20100102.1", "1.0.0+a"],
      ["", "dev-main", "latest", "1.2.3.4.5", "1.0-test1", "1.0.0.post1", "^1.0", "1..0", `1.0-b${"1".repeat(256)}`],
    ],
    rubygems: [
      ["1", "1.2.3.4.5", "1.0.b1", "1.0-rc.1", "1.0.0.pre.x", " 1 "],
      ["", "a", "1..2", "1.", "v1", "~> 1.0", "1.0_1", "1.0-", "1\n2"],
    ],
    nuget: [
      ["1", "1.2", "1.2.3.4", "01.02", "1.0.0-rc.1+x.y", "1.0-ALPHA"],
      ["", "1.2.3.4.5", "v1.0", "1.0-", "1.0+", "1.0-a..b", "[1.0]", "1.*"],
    ],
    cran: [
      ["1", "1.2-3", "2024.01.31"],
      ["", "1.", "1..2", "a", "1.0a", "v1", "-1"],
    ],
    pub: [
      ["1.2.3", "1.2.3-dev.1+x", "1.2"],
      ["", "any", "^1.2.3", "1.2.3.4"],
    ],
  };
  for (const order of ORDERS)
    for (const [at, texts] of said[order].entries())
      for (const text of texts) assert.equal(isVersion(order, text), at === 0, `${order}: ${text}`);
});

const PIECES = [
  ..."0 00 1 01 2 10 99999999999999999999 . - _ ~ ^ + : ! a b c p x A rc pre dev post alpha beta git -r".split(" "),
  ..."ga final sp snapshot v α".split(" "),
  " ",
];

/** Texts that are nearly versions of all orders, so that many pairs are close to each other or the same. */
const nearly = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 7 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 6 }),
);

test("maven: its specification has circles", () => {
  const circle = ["2.9.0.RC1", "2.9.0", "2.9.0-1", "2.9.0.RC1"];
  for (const [at, later] of circle.slice(1).entries())
    assert.equal(compareVersions("maven", circle[at] ?? "", later), -1);
});

test("maven: two texts compare alike both ways round", () => {
  const bothWays = fc.property(nearly, nearly, (a, b) => {
    assert.equal(compareVersions("maven", a, b) + compareVersions("maven", b, a), 0);
    assert.equal(compareVersions("maven", a, a), 0);
  });
  fc.assert(bothWays, { numRuns: 20_000 });
});

for (const order of ORDERS.filter((each) => each !== "maven"))
  test(`${order}: every text has a place in one order`, () => {
    const compare = (a: string, b: string): number => compareVersions(order, a, b);
    const inOne = fc.property(nearly, nearly, nearly, (...three) => {
      const [a = "", b = "", c = ""] = three.toSorted(compare);
      for (const each of three) assert.equal(compare(each, each), 0);
      for (const [one, two] of [
        [a, b],
        [b, c],
        [a, c],
      ] as const) {
        assert.ok(compare(one, two) <= 0, JSON.stringify([one, two]));
        assert.equal(compare(one, two) + compare(two, one), 0, JSON.stringify([one, two]));
      }
      // Being the same is transitive as well.
      if (compare(a, c) === 0) assert.deepEqual([compare(a, b), compare(b, c)], [0, 0]);
    });
    // That of pub is mostly that of semver, whose parser is the slowest.
    fc.assert(inOne, { numRuns: order === "pub" ? 2_000 : 20_000 });
  });

test("versions of many thousand characters and digits are compared", () => {
  const length = 50_000;
  for (const order of ORDERS) {
    for (const unit of [
      "1",
      "0",
      ".",
      "-",
      "a",
      "~",
      "^",
      "_",
      "1.",
      "1-",
      "a.",
      "1a",
      "_rc",
      "-r",
      ".0",
      "-0",
      "0.a",
    ]) {
      const long = unit.repeat(length / unit.length);
      for (const before of ["", "1."])
        for (const after of ["", "!"]) {
          const text = `${before}${long}${after}`;
          assert.equal(compareVersions(order, text, text), 0);
          assert.equal(compareVersions(order, text, "1") + compareVersions(order, "1", text), 0);
          isVersion(order, text);
        }
    }
  }
  const digits = "7".repeat(5000);
  for (const order of ["dpkg", "apk", "rpm", "maven", "semver", "rubygems", "nuget", "cran"] as const) {
    assert.equal(compareVersions(order, `1.${digits}1`, `1.${digits}2`), -1, order);
    assert.equal(compareVersions(order, `1.${digits}`, `1.${digits}0`), -1, order);
  }
});

/** Lines `1.0 < 1.1`; texts with `#` or `//` in front, and lines without a comparison, are comments. */
const LINE = /^(?!#|\/\/)(\S+) ([<=>]) (\S+)$/;

test("the pairs of google/osv-scalibr compare as it says, both ways round", (t) => {
  const folder = path.resolve(import.meta.dirname, "../../../../../../shared/data/versions");
  if (!existsSync(folder))
    return t.skip("put osv-scalibr's pairs of versions into ../shared/data/versions to run this");
  const orders: Readonly<Record<string, VersionOrder>> = {
    debian: "dpkg",
    alpine: "apk",
    redhat: "rpm",
    semver: "semver",
    pypi: "pypi",
    maven: "maven",
    rubygems: "rubygems",
    nuget: "nuget",
    cran: "cran",
    pub: "pub",
  };
  const failures: string[] = [];
  let count = 0;
  for (const file of readdirSync(folder)) {
    const order = orders[/^[a-z]+/.exec(file)?.[0] ?? ""];
    assert.ok(order !== undefined, file);
    for (const line of readFileSync(path.join(folder, file), "utf8").split("\n")) {
      const [, a = "", sign = "", b = ""] = LINE.exec(line.trim()) ?? [];
      if (sign === "") {
        assert.match(line, /^(?:\s*|#.*|\/\/.*)$/, file);
        continue;
      }
      count += 1;
      const right = "<=>".indexOf(sign) - 1;
      if (compareVersions(order, a, b) !== right || compareVersions(order, b, a) !== 0 - right)
        failures.push(`${file}: ${line}`);
    }
  }
  assert.deepEqual(failures.slice(0, 50), []);
  assert.ok(count > 56_000, String(count));
});
