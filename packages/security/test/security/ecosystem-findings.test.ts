import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { packageRow } from "../../src/security/catalog/rows.ts";
import { componentOf } from "../../src/security/matching/image-component.ts";
import { lookupsOf } from "../../src/security/matching/package-keys.ts";
import { hitOf, recordAffects } from "../../src/security/matching/record-affects.ts";
import { osvRecord } from "../../src/security/feeds/osv.ts";
import { storedRecord } from "../../src/security/feeds/stored-record.ts";
import { type TarEntry, zipOf } from "../../../server/test/support/catalog/archives.ts";
import { catalogOf } from "../../../server/test/support/catalog/catalog.ts";
import { elfWith } from "../../../server/test/support/catalog/programs.ts";

interface Case {
  ecosystem: string;
  name: string;
  /** The version that is fixed, in the file of an image `at` some version. */
  fixed: string;
  at(version: string): TarEntry;
  affected: string;
  /** As late as the fix, or later by the ecosystem's own order. */
  unaffected: string;
}

const json = (path: string, content: unknown): TarEntry => ({ path, content: JSON.stringify(content) });

const CASES: readonly Case[] = [
  {
    ecosystem: "Packagist",
    name: "symfony/http-kernel",
    fixed: "5.4.20.1",
    at: (version) =>
      json("app/vendor/composer/installed.json", { packages: [{ name: "Symfony/HTTP-Kernel", version }] }),
    affected: "v5.4.20.1-RC1",
    unaffected: "v5.4.20.10",
  },
  {
    ecosystem: "RubyGems",
    name: "rack",
    fixed: "2.2.3.1",
    at: (version) => ({
      path: `usr/lib/ruby/gems/3.2.0/specifications/rack-${version}.gemspec`,
      content: `# stub: rack ${version} ruby lib\n`,
    }),
    affected: "2.2.3.1.rc1",
    unaffected: "2.2.10",
  },
  {
    ecosystem: "NuGet",
    name: "newtonsoft.json",
    fixed: "13.0.1.2",
    at: (version) => json("app/x.deps.json", { libraries: { [`Newtonsoft.Json/${version}`]: { type: "package" } } }),
    affected: "13.0.1",
    unaffected: "13.0.1.10",
  },
  {
    ecosystem: "crates.io",
    name: "smallvec",
    fixed: "1.6.1",
    at: (version) => ({
      path: "bin/tool",
      mode: 0o755,
      content: elfWith({
        ".dep-v0": deflateSync(JSON.stringify({ packages: [{ name: "smallvec", version, source: "crates.io" }] })),
      }),
    }),
    affected: "1.6.1-rc.1",
    unaffected: "1.6.1+build",
  },
  {
    ecosystem: "Hex",
    name: "phoenix",
    fixed: "1.7.14",
    at: (version) => ({
      path: `app/lib/phoenix-${version}/ebin/phoenix.app`,
      content: `{application,phoenix,[{vsn,"${version}"}]}.`,
    }),
    affected: "1.7.9",
    unaffected: "1.7.14",
  },
  {
    ecosystem: "CRAN",
    name: "readxl",
    fixed: "1.4-2",
    at: (version) => ({
      path: "usr/lib/R/site-library/readxl/DESCRIPTION",
      content: `Package: readxl\nVersion: ${version}\nBuilt: R 4.3.1\n`,
    }),
    affected: "1.4.1",
    unaffected: "1.4-10",
  },
  {
    ecosystem: "PyPI",
    name: "old-name",
    fixed: "1.10",
    at: (version) => ({
      path: "usr/lib/python3/site-packages/old.egg",
      content: zipOf({ "EGG-INFO/PKG-INFO": `Name: Old.Name\nVersion: ${version}\n` }),
    }),
    affected: "1.9",
    unaffected: "1.10.post1",
  },
  {
    ecosystem: "npm",
    name: "@babel/core",
    fixed: "7.10.0",
    at: (version) => ({
      path: "app/.yarn/cache/core.zip",
      content: zipOf({ "node_modules/@babel/core/package.json": JSON.stringify({ name: "@babel/core", version }) }),
    }),
    affected: "7.9.0",
    unaffected: "7.10.0",
  },
];

for (const { ecosystem, name, fixed, at, affected, unaffected } of CASES)
  test(`a package of ${ecosystem} in an image is found by its records, until it is fixed`, async () => {
    const { record } = osvRecord({
      id: "ACME-2026-1",
      modified: "2026-11-01T00:00:00Z",
      affected: [
        { package: { ecosystem, name }, ranges: [{ type: "ECOSYSTEM", events: [{ introduced: "0" }, { fixed }] }] },
      ],
    });
    assert.ok(record !== undefined);
    const { keys, body } = storedRecord(record);
    const fixesOf = async (version: string): Promise<string[] | undefined> => {
      const { components, unread } = await catalogOf([[at(version)]]);
      assert.deepEqual(unread, []);
      assert.deepEqual(
        components.map((each) => each.version),
        [version],
      );
      const lookups = components.flatMap((each) => {
        const component = componentOf(packageRow(each));
        return component === undefined ? [] : lookupsOf(component);
      });
      assert.deepEqual(
        keys.filter(([kind]) => kind === "package").map(([, key]) => key),
        lookups.map(({ key }) => key),
      );
      return hitOf(recordAffects("osv", body), lookups)?.fixed;
    };
    assert.deepEqual(await fixesOf(affected), [fixed]);
    assert.equal(await fixesOf(unaffected), undefined);
  });
