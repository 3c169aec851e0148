import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parsedPurl } from "../../../kernel/src/lib/purls/index.ts";
import { osvRecord } from "../../src/security/feeds/osv.ts";
import { lookupsOf } from "../../src/security/matching/package-keys.ts";
import { hitOf, recordAffects } from "../../src/security/matching/record-affects.ts";
import { newAdvisory } from "../../../server/test/support/advisories.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What a group has found out about packages of an ecosystem names them as that does, in each format of export.

const KINDS: [kind: string, name: string, purl: string, ecosystem?: string][] = [
  ["npm", "@acme/app", "pkg:npm/%40acme/app@1.0.0", "npm"],
  ["maven", "org.example:log", "pkg:maven/org.example/log@1.0.0", "Maven"],
  ["golang", "example.com/acme/app", "pkg:golang/example.com/acme/app@1.0.0", "Go"],
  ["php-composer", "acme/app", "pkg:composer/acme/app@1.0.0", "Packagist"],
  ["gem", "rails", "pkg:gem/rails@1.0.0", "RubyGems"],
  ["nuget", "Acme.App", "pkg:nuget/Acme.App@1.0.0", "NuGet"],
  ["crates.io", "serde", "pkg:cargo/serde@1.0.0", "crates.io"],
  ["hex", "jason", "pkg:hex/jason@1.0.0", "Hex"],
  ["r-package", "Matrix", "pkg:cran/Matrix@1.0.0", "CRAN"],
  ["pub", "http_parser", "pkg:pub/http_parser@1.0.0", "Pub"],
  ["swift", "github.com/acme/app", "pkg:swift/github.com/acme/app@1.0.0", "SwiftURL"],
  ["conda", "numpy", "pkg:conda/numpy@1.0.0"],
];

let platform: Platform;
let group = "";
before(async () => {
  platform = await startPlatform();
  group = (await platform.group(platform.organization, { name: "kinds" })).uid;
  for (const [at, [componentType, componentName]] of KINDS.entries())
    await newAdvisory(platform, group, {
      artifactName: "acme/kinds/web",
      artifactType: "OCI_IMAGE",
      componentName,
      componentType,
      aliases: [`CVE-2026-10${at + 10}`],
      events: [{ fixed: { fixedVersion: "1.0.0" }, reviewState: "APPROVED" }],
    });
});
after(() => platform.close());

test("products of exported decisions have the package URLs of their ecosystems", async () => {
  for (const format of ["OPENVEX", "CSAF"]) {
    const { document } = await platform.ok<{ document: object }>(
      "GET",
      `/vulnerabilities/v2/groups/${group}/vex?format=${format}`,
    );
    const text = JSON.stringify(document);
    for (const [kind, , purl] of KINDS) assert.ok(text.includes(JSON.stringify(purl)), `${format} ${kind}: ${text}`);
    assert.ok(!text.includes("pkg:generic"), format);
  }
});

test("exported records of OSV that are imported as a feed find the packages that they are about", async () => {
  const { osvRecords } = await platform.ok<{ osvRecords: { aliases: string[] }[] }>(
    "GET",
    `/vulnerabilities/v2/groups/${group}/osv`,
  );
  for (const [at, [kind, , text, ecosystem]] of KINDS.entries()) {
    const exported = osvRecords.find(({ aliases }) => aliases.includes(`CVE-2026-10${at + 10}`));
    const { record } = osvRecord(exported);
    const purl = parsedPurl(text.replace("@1.0.0", "@0.9.0"));
    assert.ok(record !== undefined && purl !== undefined, kind);
    const hit = hitOf(recordAffects("osv", record.body), lookupsOf(purl));
    assert.deepEqual(hit?.fixed, ecosystem === undefined ? undefined : ["1.0.0"], kind);
  }
});
