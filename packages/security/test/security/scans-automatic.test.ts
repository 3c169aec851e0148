import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushArtifact, pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { type ScannerAdapter, startAdapter } from "../../../server/test/support/scanner-adapter.ts";
import { scanPlace } from "../../../server/test/support/scans.ts";

// What is scanned without anybody asking: what a tag comes to point to.

let platform: Platform;
let adapter: ScannerAdapter;
let repo = "";
let place: PushTarget;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_CATALOG_IMAGES: "1" });
  adapter = await startAdapter();
  ({ repo, place } = await scanPlace(platform, "app"));
});
after(() => Promise.all([platform.close(), adapter.close()]));

const scannerOf = async (group: string, name: string, more: object = {}): Promise<string> =>
  (await platform.ok("POST", `/vulnerabilities/v2/scanners/${group}`, { name, url: adapter.url, ...more })).uid;
const layer = (version: string): Buffer => tarOf([npmFile("srv", "left-pad", version)]);
const scansOf = (digest: string): Promise<Json[]> =>
  rows(platform.ok("GET", `/vulnerabilities/v2/scans?digest=${digest}`), "scans");

/** The scans of the image as soon as there are so many and all are done. */
async function whenDone(digest: string, count: number): Promise<Json[]> {
  return await eventually(
    async () => {
      const scans = await scansOf(digest);
      return scans.length >= count && scans.every((scan) => scan["state"] === "SCAN_STATE_DONE") && scans;
    },
    { instead: () => scansOf(digest) },
  );
}

test("what a tag comes to point to is scanned once, by the scanners of the groups above", async () => {
  const earlier = await pushLayers(place, "earlier", [layer("0.0.1")]);
  const { uid: elsewhere } = await platform.group(platform.organization);
  await scannerOf(elsewhere, "other");
  const scanner = await scannerOf(platform.organization, "trivy");
  await scannerOf(platform.organization, "asked only", { onRequestOnly: true });

  const untagged = await pushArtifact(place, {
    config: { mediaType: "application/vnd.oci.image.config.v1+json", content: "{}" },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", content: layer("0.0.2") }],
  });
  const chart = await pushArtifact(place, {
    reference: "chart",
    config: { mediaType: "application/vnd.cncf.helm.config.v1+json", content: "{}" },
    layers: [{ mediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", content: layer("0.0.3") }],
  });
  const digest = await pushLayers(place, "v1", [layer("1.0.0")]);
  const [scan, ...others] = await whenDone(digest, 1);
  assert.ok(scan);
  assert.deepEqual([scan["scanner"], scan["attempts"], others], [scanner, 1, []]);
  assert.equal((scan["counts"] as Json)["critical"], 1);
  for (const other of [earlier, untagged, chart]) assert.deepEqual(await scansOf(other), []);

  // Another tag of the same, then one of something else: events are looked at in their order.
  await platform.tag(repo, { name: "same", digest });
  await platform.tag(repo, { name: "late", digest: untagged });
  await whenDone(untagged, 1);
  assert.deepEqual(await scansOf(digest), [scan]);

  const images = [await pushLayers(place, "amd", [layer("1.0.1")]), await pushLayers(place, "arm", [layer("1.0.2")])];
  const index = await pushIndex(place, "index", [
    [images[0] ?? "", { os: "linux", architecture: "amd64" }],
    [images[1] ?? "", { os: "linux", architecture: "arm64" }],
  ]);
  for (const image of images) await whenDone(image, 1);
  assert.deepEqual(await scansOf(index), []);
});
