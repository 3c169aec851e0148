import assert from "node:assert/strict";
import { test } from "node:test";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushArtifact, pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { LOOPBACK, startPair } from "../../../server/test/support/mirror.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const OPENVEX = "application/openvex+json";
const VEX = JSON.stringify({
  "@context": "https://openvex.dev/ns/v0.2.0",
  "@id": "https://acme.example/vex/1",
  author: "Acme",
  timestamp: "2026-11-01T08:00:00Z",
  version: 1,
  statements: [
    {
      vulnerability: { name: "CVE-2026-1" },
      products: [{ "@id": "pkg:npm/inside" }],
      status: "not_affected",
      justification: "vulnerable_code_not_present",
    },
  ],
});
interface Listed {
  trusted: boolean;
  attachedBy: string;
  statements: number;
}
const CATALOGING = { ...LOOPBACK, MOORAGE_CATALOG_IMAGES: "1" };

test("an image that is pulled through is held until it was copied and read, and then by what feeds cover", async (t) => {
  const { upstream, here, mirror, configOf } = await startPair(t, CATALOGING);
  const source: PushTarget = { url: upstream.url, token: upstream.registry, name: "acme/app" };
  const image = await pushLayers(source, "v1", [tarOf([npmFile("app", "inside", "1.0.0")])]);
  await pushIndex(source, "both", [[image, { os: "linux", architecture: "amd64" }]]);
  const uid = await mirror("copy", configOf("app", { pullThrough: true, tagPattern: "v1|both", interval: "604800s" }));
  await eventually(
    async () =>
      (await here.api<{ state: string }>("GET", `/registry/v2/repos/${uid}/sync`)).state === "SYNC_STATE_SUCCEEDED",
  );
  const late = await pushLayers(source, "v1", [tarOf([npmFile("app", "inside", "2.0.0")])]);
  await pushIndex(source, "both", [[late, { os: "linux", architecture: "amd64" }]]);
  await here.api("PATCH", `/registry/v2/repos/${uid}?updateMask=tagPolicy`, {
    tagPolicy: { vulnerabilities: { on: ["PULL"], mode: "ENFORCE" } },
  });
  const pull = (reference: string) => here.ask("GET", `/v2/acme/copy/manifests/${reference}`, { token: here.registry });
  const first = await pull(late);
  assert.equal(first.status, 429, first.text);
  assert.match(first.text, /it is copied from its source/);
  await eventually(async () => (await pull(late)).status === 403);
  assert.match((await pull(late)).text, /no feed covers 1 package of npm/, "it was read, and nothing is known of npm");
  await here.api("PATCH", `/registry/v2/repos/${uid}?updateMask=tagPolicy`, {
    tagPolicy: { vulnerabilities: { on: ["PULL"], mode: "ENFORCE", onUnknown: "PASS" } },
  });
  await eventually(async () => (await pull(late)).status === 200);
});

test("what a mirror copies is attached on nobody's word", async (t) => {
  const { upstream, here, mirror, configOf, copied } = await startPair(t, CATALOGING);
  const source: PushTarget = { url: upstream.url, token: upstream.registry, name: "acme/app" };
  const subject = await pushLayers(source, "v1", [tarOf([npmFile("app", "inside", "1.0.0")])]);
  const layers = [{ mediaType: OPENVEX, content: VEX }];
  await pushArtifact(source, { artifactType: OPENVEX, subject, layers });
  const uid = await mirror("copy", configOf("app"));
  await copied(uid);
  const attachments = async (): Promise<Listed[]> =>
    (await here.api<{ attachments?: Listed[] }>("GET", `/registry/v2/repos/${uid}/digests/${subject}/attachments`))
      .attachments ?? [];
  const [attached] = await eventually(async () => {
    const found = await attachments();
    return found.length > 0 && (found[0]?.statements ?? 0) > 0 && found;
  });
  assert.deepEqual([attached?.trusted, attached?.attachedBy], [false, ""]);
});
