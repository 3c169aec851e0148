import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { PUBLIC_ARTIFACTS } from "../../../server/test/support/catalog/public-artifacts.ts";
import { newRepoPlace } from "../../../server/test/support/catalog/place.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { syftsCoordinates } from "../../../server/test/support/catalog/syft-rules.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Archives as Maven's clients get them, against the coordinates by which they were asked for, and beside what Syft's
// rules make of the same files.

/** `.ci/real-packages.sh` fetches them into folders, with a list beside each. */
const FOLDER = process.env["MOORAGE_TEST_REAL_PACKAGES"] ?? "";
const skip = FOLDER === "" ? "fetches packages: run .ci/real-packages.sh" : false;

const TWO_GROUPS = "feeds know two groups of the artifact, and nothing in the archive says which";
const ELSEWHERE = "its classes lie elsewhere than its group says, and its manifest names no part of the group";
const NO_CODE = "it has no classes, and its manifest does not name its group";
/** What is listed as unidentified, and why. */
const UNIDENTIFIED: Record<string, string> = {
  "org.dom4j:dom4j:2.1.1": TWO_GROUPS,
  "org.dom4j:dom4j:2.1.3": TWO_GROUPS,
  "dom4j:dom4j:1.6.1": TWO_GROUPS,
  "axis:axis:1.4": TWO_GROUPS,
  "org.apache.axis:axis:1.4": TWO_GROUPS,
  "xalan:xalan:2.7.2": "less than half of its classes are of the project that it is named after",
  "xml-apis:xml-apis:1.4.01": ELSEWHERE,
  "org.apache.ant:ant:1.10.9": ELSEWHERE,
  "net.sourceforge.htmlunit:htmlunit:2.50.0": ELSEWHERE,
  "org.codehaus.woodstox:woodstox-core-asl:4.4.1": ELSEWHERE,
  "org.ow2.asm:asm:9.2": "its manifest names another domain than its group, org.objectweb",
  "javax.servlet:jstl:1.2": "its manifest and its classes are of org.apache",
  "org.apache.derby:derby:10.14.2.0": "its manifest states another version than the name of its file",
  "io.springfox:springfox-swagger-ui:2.9.2": NO_CODE,
};

for (const [list, expected] of [
  ["archives", { found: 20, wrong: 0, unidentified: 1 }],
  ["neighbors", { found: 116, wrong: 0, unidentified: 13 }],
] as const)
  test(
    `Java archives are what they were asked for as, or listed as unidentified: ${list}`,
    { skip, timeout: 300_000 },
    async (t) => {
      const wanted = linesOf(list).map(([group = "", name = "", version = ""]) => ({ group, name, version }));
      if (wanted.length === 0) return t.skip("no archives were fetched");
      const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
      t.after(() => platform.close());
      const artifacts = [
        ...PUBLIC_ARTIFACTS,
        ...["archives", "neighbors"].flatMap(linesOf).map(([g, a]) => `${g}:${a}`),
      ];
      const affected = [...new Set(artifacts)].map((name) => ({
        package: { ecosystem: "Maven", name },
        versions: ["0"],
      }));
      await putRecords(platform, "osv", "osv", [osvOf("GHSA-aaaa-0000-0001", { affected })]);
      const files = wanted.map(({ name, version }) => ({
        path: `app/lib/${name}-${version}.jar`,
        content: readFileSync(path.join(FOLDER, list, "app/lib", `${name}-${version}.jar`)),
      }));
      const purls = await purlsByPath(platform, files);
      const known = new Map(linesOf("syft").map(([artifact = "", group = ""]) => [artifact, group]));
      if (known.size === 0) t.diagnostic("without the groups that Syft knows by the name of an artifact");

      const counts = { found: 0, wrong: 0, unidentified: 0 };
      const syft = { found: 0, wrong: 0 };
      const differences: string[] = [];
      t.diagnostic("| archive | Moorage | by Syft's rules |");
      for (const [at, { group, name, version }] of wanted.entries()) {
        const title = `${group}:${name}:${version}`;
        const file = files[at]?.path ?? "";
        const found = purls.get(file) ?? [];
        // What is not identified is listed all the same, without a group.
        const isListed = found.includes(`pkg:generic/${name}@${version}`) || !found.some((purl) => isOf(purl, name));
        const isFound = found.includes(`pkg:maven/${group}/${name}@${version}`);
        const state = isFound ? "found" : isListed && found.length > 0 ? "unidentified" : "wrong";
        counts[state] += 1;
        const theirs = await syftsCoordinates(files[at]?.content ?? Buffer.alloc(0), file, known);
        syft[theirs === title ? "found" : "wrong"] += 1;
        t.diagnostic(`| ${title} | ${state} | ${theirs === title ? "found" : `wrong: ${theirs}`} |`);
        if (state !== (UNIDENTIFIED[title] === undefined ? "found" : "unidentified"))
          differences.push(`${title}: ${state} ${found.join(" ")}`);
      }
      t.diagnostic(`found, wrong, unidentified: ${Object.values(counts).join(", ")}`);
      t.diagnostic(`by Syft's rules found, wrong: ${Object.values(syft).join(", ")}`);
      assert.deepEqual(differences, []);
      assert.deepEqual(counts, expected);
    },
  );

const isOf = (purl: string, name: string): boolean => purl.startsWith("pkg:maven/") && purl.includes(`/${name}@`);

interface Component {
  purl?: string;
  properties?: { name: string; value: string }[];
}

/** The packages of an image of these files, by the path at which they lie. */
async function purlsByPath(
  platform: Platform,
  files: readonly { path: string; content: Buffer }[],
): Promise<Map<string, string[]>> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  const digest = await pushLayers(place, "archives", [tarOf(files)]);
  const bearer = { token: await platform.token() };
  const sbom = `/registry/v2/repos/${place.repo}/digests/${digest}/sbom`;
  const { components } = await eventually(async () => {
    const { status, body, text } = await platform.call("GET", sbom, bearer);
    if (status === 200) return body["document"] as { components: Component[] };
    assert.match(text, /waits to be read/);
    return undefined;
  });
  const purls = new Map<string, string[]>();
  for (const { purl, properties = [] } of components)
    for (const { name, value } of properties) {
      if (name !== "moorage:place" || purl === undefined) continue;
      const at = value.slice(value.indexOf(" ") + 1);
      purls.set(at, [...(purls.get(at) ?? []), decodeURIComponent(purl)]);
    }
  return purls;
}

/** The lines of a list, in words; none of what was not fetched. */
function linesOf(list: string): string[][] {
  try {
    return readFileSync(path.join(FOLDER, `${list}.txt`), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" "));
  } catch {
    return [];
  }
}
