import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { reviewScans } from "../../src/security/scanners/remove.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { deleteReference, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { type Json, type Platform, reason, startPlatform } from "../../../server/test/support/platform.ts";
import { capability, SBOM, type ScannerAdapter, startAdapter } from "../../../server/test/support/scanner-adapter.ts";
import { requestScans, scanPlace, whenScan } from "../../../server/test/support/scans.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Bills of materials that scanners make.

const LAYER = tarOf([npmFile("srv", "left-pad", "1.3.0")]);
const FOUND = ["pkg:npm/left-pad@1.3.0", "pkg:npm/vendored@2.0.0"];
const FORMATS = ["application/spdx+json", "application/vnd.cyclonedx+json"];

/** A platform with a scanner that makes bills of materials only, on request. */
async function start(t: TestContext, env: Record<string, string>) {
  const adapter = await startAdapter();
  t.after(() => adapter.close());
  adapter.metadata["capabilities"] = [
    capability("sbom", SBOM, { additional_attributes: { sbom_media_types: FORMATS } }),
  ];
  const platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", ...env });
  t.after(() => platform.close());
  const { repo, place } = await scanPlace(platform, "app");
  await platform.ok("POST", `/vulnerabilities/v2/scanners/${platform.organization}`, {
    name: "syft",
    url: adapter.url,
    onRequestOnly: true,
  });
  const digest = await pushLayers(place, "v1", [LAYER]);
  return { adapter, platform, repo, place, digest };
}

async function scanned(platform: Platform, repo: string, digest: string, state = "DONE"): Promise<Json> {
  const [scan, ...others] = await requestScans(platform, repo, digest);
  assert.deepEqual([scan?.["type"], others], ["SCAN_TYPE_SBOM", []]);
  return await whenScan(platform, scan?.uid ?? "", state);
}

/** What the image holds, and who says so. */
async function holds(platform: Platform, repo: string, digest: string, query = ""): Promise<[string[], string[]]> {
  const answer = await platform.ok("GET", `/registry/v2/repos/${repo}/digests/${digest}/sbom${query}`);
  const { components } = answer["document"] as { components: { purl: string }[] };
  return [components.map(({ purl }) => purl), answer["sources"] as string[]];
}

/** Answers reports so. */
const reporting = (adapter: ScannerAdapter, sbom: unknown, mediaType = FORMATS[1]): void => {
  adapter.intercept = (req, res) => {
    if (!req.url?.includes("/report")) return false;
    res.writeHead(200, { "content-type": SBOM }).end(JSON.stringify({ media_type: mediaType, sbom }));
    return true;
  };
};

test("what a scanner finds in an image is what it holds where nobody knows better", async (t) => {
  const { adapter, platform, repo, place, digest } = await start(t, { MOORAGE_CATALOG_IMAGES: "0" });
  const done = await scanned(platform, repo, digest);
  assert.deepEqual([done["packages"], done["counts"], done["reportMimeType"]], [2, undefined, SBOM]);
  assert.deepEqual(done["software"], { name: "Test Scanner", vendor: "Tests", version: "1.2.3" });
  assert.deepEqual(adapter.asked.at(-1)?.enabled_capabilities, [
    { type: "sbom", produces_mime_types: [SBOM], parameters: { sbom_media_types: [FORMATS[1]] } },
  ]);
  const source = `scan/${done.uid}`;
  assert.deepEqual(await holds(platform, repo, digest), [FOUND, [source]]);
  const { content } = await platform.ok("GET", `/vulnerabilities/v2/scans/${done.uid}/report`);
  assert.match(Buffer.from(String(content), "base64").toString(), /"bomFormat":"CycloneDX"/);
  const token = await platform.token();
  const none = await platform.call("GET", `/vulnerabilities/v2/scans/${done.uid}/vulnerabilities`, { token });
  assert.deepEqual([none.status, reason(none)], [400, "FAILED_PRECONDITION"]);

  const spdx = {
    spdxVersion: "SPDX-2.3",
    packages: [
      {
        name: "later",
        versionInfo: "1.0.0",
        externalRefs: [{ referenceType: "purl", referenceLocator: "pkg:npm/later@1.0.0" }],
      },
    ],
  };
  reporting(adapter, spdx, FORMATS[0]);
  assert.equal((await scanned(platform, repo, digest))["packages"], 1);
  assert.deepEqual(await holds(platform, repo, digest), [["pkg:npm/later@1.0.0"], [source]]);

  for (const [sbom, mediaType, why] of [
    [undefined, FORMATS[1], /sbom: must be an object/],
    [{ specVersion: "1.6", components: [] }, FORMATS[1], /names no package with a purl/],
    [{ specVersion: "1.6", components: {} }, FORMATS[1], /components: must be a list/],
    [spdx, "text/plain", /media_type: must be application\/vnd\.cyclonedx\+json or/],
  ] as const) {
    reporting(adapter, sbom, mediaType);
    assert.match(String((await scanned(platform, repo, digest, "FAILED"))["reason"]), why);
  }
  assert.deepEqual((await holds(platform, repo, digest))[0], ["pkg:npm/later@1.0.0"], "what it said before stays");

  // It is about the image in this repo alone.
  const other = await scanPlace(platform, "other");
  await pushLayers(other.place, "v1", [LAYER]);
  const elsewhere = `/registry/v2/repos/${other.repo}/digests/${digest}/sbom`;
  assert.match((await platform.call("GET", elsewhere, { token })).text, /waits to be read/);

  await deleteReference(place, digest);
  const { removed } = await platform.transact((tx) =>
    reviewScans.run(openCall(systemCall(Date.now()), tx), { after: "" }, undefined),
  );
  assert.equal(removed, 1);
  assert.deepEqual(await platform.reader.selectFrom("image_packages").selectAll().execute(), []);
  assert.deepEqual(await platform.reader.selectFrom("packages").selectAll().execute(), []);
});

test("the server's own reading counts more; what the scanner says is kept beside it", async (t) => {
  const { platform, repo, digest } = await start(t, { MOORAGE_CATALOG_IMAGES: "1" });
  const { uid } = await scanned(platform, repo, digest);
  const isRead = async (): Promise<boolean> => {
    const row = await platform.reader.selectFrom("image_catalogs").select("state").executeTakeFirst();
    return row?.state === 2;
  };
  await eventually(isRead);
  assert.deepEqual(await holds(platform, repo, digest), [FOUND.slice(0, 1), ["layers"]]);
  assert.deepEqual(await holds(platform, repo, digest, `?source=${encodeURIComponent(`scan/${uid}`)}`), [
    FOUND,
    [`scan/${uid}`],
  ]);
});
