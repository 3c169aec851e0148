import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { fromBufferPromise } from "yauzl";
import { manifestOf } from "../../src/security/catalog/readers/java-manifest.ts";
import { tarOf } from "../support/catalog/archives.ts";
import { PUBLIC_ARTIFACTS } from "../support/catalog/public-artifacts.ts";
import { newRepoPlace } from "../support/catalog/place.ts";
import { pushLayers } from "../support/catalog/push.ts";
import { osvOf, putRecords } from "../support/feed-records.ts";
import { startPlatform } from "../support/platform.ts";

// Archives as Maven's clients get them, against the coordinates by which they were asked for, and beside what another
// tool's rules make of their manifests.

/** `.ci/real-packages.sh` fetches them into `archives`, with a list beside it. */
const FOLDER = process.env["MOORAGE_TEST_REAL_PACKAGES"] ?? "";
const LIST = path.join(FOLDER, "archives.txt");
const skip = FOLDER === "" ? "fetches packages: run .ci/real-packages.sh" : false;

/** Of these two groups are known, and nothing in the archive says which. */
const UNIDENTIFIED = ["org.dom4j:dom4j:2.1.1"];

test("well-known Java archives are what they were asked for as, or listed as unidentified", { skip }, async (t) => {
  const wanted = lines().map(([group = "", name = "", version = ""]) => ({ group, name, version }));
  if (wanted.length === 0) return t.skip("no archives were fetched");
  assert.equal(wanted.length, 21);
  const platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1" });
  t.after(() => platform.close());
  const affected = PUBLIC_ARTIFACTS.map((name) => ({ package: { ecosystem: "Maven", name }, versions: ["0"] }));
  await putRecords(platform, "osv", "osv", [osvOf("GHSA-aaaa-0000-0001", { affected })]);
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  const place = await newRepoPlace(platform, token);
  const files = wanted.map(({ name, version }) => ({
    path: `app/lib/${name}-${version}.jar`,
    content: readFileSync(path.join(FOLDER, "archives/app/lib", `${name}-${version}.jar`)),
  }));
  const type = "application/vnd.oci.image.layer.v1.tar+gzip";
  const digest = await pushLayers(place, "archives", [gzipSync(tarOf(files))], type);
  const bearer = { token: await platform.token() };
  const ask = () => platform.call("GET", `/registry/v2/repos/${place.repo}/digests/${digest}/sbom`, bearer);
  let answer = await ask();
  for (; answer.status !== 200; answer = await ask()) {
    assert.match(answer.text, /waits to be read/);
    await wait(50);
  }
  const { components } = answer.body["document"] as { components: { purl?: string }[] };
  const purls = components.flatMap(({ purl }) => (purl === undefined ? [] : decodeURIComponent(purl)));
  const counts = { found: 0, wrong: 0, unidentified: 0 };
  const others = { found: 0, wrong: 0 };
  for (const [at, { group, name, version }] of wanted.entries()) {
    const ours = purls.filter((purl) => purl.endsWith(`/${name}@${version}`));
    const state = ours.includes(`pkg:maven/${group}/${name}@${version}`)
      ? "found"
      : ours.some((purl) => purl.startsWith("pkg:maven/"))
        ? "wrong"
        : "unidentified";
    counts[state] += 1;
    const theirs = await syftsGroup(files[at]?.content ?? Buffer.alloc(0), name);
    others[theirs === group ? "found" : "wrong"] += 1;
    t.diagnostic(`${group}:${name}:${version}: ${state}; by Syft's rules ${theirs === group ? "found" : theirs}`);
    assert.equal(state, UNIDENTIFIED.includes(`${group}:${name}:${version}`) ? "unidentified" : "found", name);
  }
  t.diagnostic(`found, wrong, unidentified: ${Object.values(counts).join(", ")}`);
  t.diagnostic(`by Syft's rules found, wrong: ${Object.values(others).join(", ")}`);
  assert.deepEqual(counts, { found: 20, wrong: 0, unidentified: 1 });
});

function lines(): string[][] {
  try {
    return readFileSync(LIST, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" "));
  } catch {
    return [];
  }
}

/**
 * The group by the order of fields that Syft documents: that of Maven's properties, else the first field of the
 * manifest that begins like a domain, else the artifact's own name. Its table of names of well-known artifacts is left
 * out.
 */
async function syftsGroup(archive: Buffer, artifact: string): Promise<string> {
  const zip = await fromBufferPromise(archive, { lazyEntries: true });
  let manifest = "";
  for await (const entry of zip.eachEntry()) {
    const [, group] = /^META-INF\/maven\/([^/]+)\/([^/]+)\/pom\.properties$/.exec(entry.fileName) ?? [];
    if (group !== undefined && entry.fileName.includes(`/${artifact}/`)) return group;
    if (entry.fileName !== "META-INF/MANIFEST.MF") continue;
    const parts: Buffer[] = [];
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
    manifest = Buffer.concat(parts).toString();
  }
  const fields = manifestOf(manifest);
  const order = [
    "group-id",
    "bundle-symbolicname",
    "extension-name",
    "specification-vendor",
    "implementation-vendor",
    "implementation-vendor-id",
    "implementation-title",
    "bundle-activator",
    "automatic-module-name",
    "main-class",
    "package",
  ];
  const values = order.map((field) => fields.get(field)?.split(";")[0] ?? "");
  return values.find((value) => /^(?:com|org|net|io)\.[\w.-]+$/.test(value)) ?? artifact;
}
