import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newAdvisory } from "../../../server/test/support/advisories.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { newRepoPlace, type Place } from "../../../server/test/support/catalog/place.ts";
import { deleteReference, digestOf, pushArtifact, pushLayers } from "../../../server/test/support/catalog/push.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openVexProblem } from "../../../server/test/support/schemas.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const OPENVEX = "application/openvex+json";

let platform: Platform;
let token = "";
// A request of whoever may push gives content a new grace.
let viewer = "";
let viewersToken = "";
before(async () => {
  platform = await startPlatform({
    MOORAGE_CATALOG_IMAGES: "1",
    MOORAGE_VEX_REFERRERS: "1",
    // Collections take what is older by the clock of the test, which one test moves.
    MOORAGE_GC_INTERVAL: "1s",
    MOORAGE_GC_GRACE: "1h",
  });
  viewer = await platform.identity(platform.organization, "viewer");
  await renewTokens();
});
const renewTokens = async (): Promise<void> => {
  const audience = new URL(platform.url).host;
  token = await platform.token(platform.owner, { audience });
  viewersToken = await platform.token(viewer, { audience });
};
after(() => platform.close());

interface Referrer {
  digest: string;
  artifactType: string;
  annotations?: Record<string, string>;
}

async function pull(place: Place, path: string): Promise<Response> {
  const headers = { authorization: `Bearer ${viewersToken}`, accept: "application/vnd.oci.image.manifest.v1+json" };
  return await fetch(`${place.url}/v2/${place.name}/${path}`, { headers });
}

async function referrersOf(place: Place, digest: string): Promise<Referrer[]> {
  const answer = await pull(place, `referrers/${digest}?artifactType=${encodeURIComponent(OPENVEX)}`);
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { manifests: Referrer[] }).manifests;
}

interface Statement {
  vulnerability: { name: string };
  status: string;
}

/** The document of a referrer, pulled as clients pull it. Undefined when the referrer is no longer there. */
async function documentOf(place: Place, referrer: string): Promise<{ statements: Statement[] } | undefined> {
  const manifest = await pull(place, `manifests/${referrer}`);
  if (manifest.status === 404) return undefined;
  assert.equal(manifest.status, 200);
  const { layers } = (await manifest.json()) as { layers: { digest: string; size: number; mediaType: string }[] };
  const [layer] = layers;
  assert.equal(layer?.mediaType, OPENVEX);
  const content = Buffer.from(await (await pull(place, `blobs/${layer.digest}`)).arrayBuffer());
  assert.deepEqual([digestOf(content), content.length], [layer.digest, layer.size]);
  return JSON.parse(content.toString()) as { statements: Statement[] };
}

const saidOf = async (place: Place, referrer: string): Promise<string[] | undefined> =>
  (await documentOf(place, referrer))?.statements.map((each) => `${each.vulnerability.name} ${each.status}`).sort();

/** The only referrer with this many statements, once it is there. */
async function attached(place: Place, digest: string, statements: number): Promise<string> {
  return await eventually(async () => {
    const found = await referrersOf(place, digest);
    assert.ok(found.length <= 1, "what it replaces goes in the same transaction");
    const [only] = found;
    if (only === undefined) return undefined;
    // It may be renewed between the two requests, and is gone then.
    return (await saidOf(place, only.digest))?.length === statements ? only.digest : undefined;
  });
}

let images = 0;
const newImage = (place: Place, tag: string, name: string): Promise<string> =>
  pushLayers(place, tag, [tarOf([npmFile("app", name, "1.0.0"), { path: `m-${(images += 1)}` }])]);

const advise = async (name: string, alias: string, event: object): Promise<string> =>
  (
    await newAdvisory(platform, platform.organization, {
      artifactName: name,
      artifactType: "NPM",
      aliases: [alias],
      events: [{ ...event, reviewState: "APPROVED" }],
    })
  ).uid;

test("the VEX of an image is a referrer of it, renewed when what is said changes, and gone when nobody says anything", async () => {
  const place = await newRepoPlace(platform, token);
  const digest = await newImage(place, "v1", "referred");
  const uid = await advise("referred", "CVE-2026-1", { detection: { manual: {} } });
  const first = await attached(place, digest, 1);
  const document = (await documentOf(place, first)) ?? assert.fail("it is gone");
  assert.equal(openVexProblem(document), undefined);
  const path = `/vulnerabilities/v2/repos/${place.repo}/vex?reference=v1`;
  assert.deepEqual(document, (await platform.ok("GET", path))["document"], "it is the document of the API");

  const more = await advise("referred", "CVE-2026-2", { fixNotPlanned: {} });
  const second = await attached(place, digest, 2);
  assert.deepEqual(await saidOf(place, second), ["CVE-2026-1 under_investigation", "CVE-2026-2 affected"]);
  assert.notEqual(second, first);
  assert.equal((await pull(place, `manifests/${first}`)).status, 404);

  // What says the same stays the same manifest, however often it is looked at.
  const other = await newImage(place, "v2", "referred");
  await attached(place, other, 2);
  assert.equal(await attached(place, digest, 2), second);

  for (const each of [uid, more]) await platform.ok("DELETE", `/vulnerabilities/v2/advisories/${each}`);
  await eventually(async () => ((await referrersOf(place, digest)).length === 0 ? true : undefined));
});

test("it is not read as if somebody had attached it, neither there nor in a copy", async () => {
  const [place, copy] = [await newRepoPlace(platform, token), await newRepoPlace(platform, token)];
  const digest = await newImage(place, "v1", "looped");
  const uid = await advise("looped", "CVE-2026-3", { fixNotPlanned: {} });
  const referrer = await attached(place, digest, 1);
  // What an attached document says is in it as well.
  const content = JSON.stringify({
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://acme.example/vex/1",
    author: "Acme",
    timestamp: "2026-11-01T08:00:00Z",
    version: 1,
    statements: [
      { vulnerability: { name: "CVE-2026-4" }, products: [{ "@id": "pkg:npm/looped@1.0.0" }], status: "fixed" },
    ],
  });
  const mine = await pushArtifact(place, {
    artifactType: "application/vnd.openvex+json",
    subject: digest,
    layers: [{ mediaType: OPENVEX, content }],
  });
  const renewed = await attached(place, digest, 2);
  const manifests = async (of: Place): Promise<string[]> => {
    const answer = await platform.ok("GET", `/registry/v2/repos/${of.repo}/digests/${digest}/attachments`);
    return ((answer["attachments"] ?? []) as { manifest: string }[]).map(({ manifest }) => manifest);
  };
  assert.deepEqual(await manifests(place), [mine]);

  // The image and its referrer in another repo, as `oras copy --recursive` makes them.
  const bytes = async (path: string): Promise<Buffer> => Buffer.from(await (await pull(place, path)).arrayBuffer());
  for (const manifest of [digest, renewed]) {
    const raw = await bytes(`manifests/${manifest}`);
    const { config, layers } = JSON.parse(raw.toString()) as {
      config: { digest: string };
      layers: { digest: string }[];
    };
    for (const blob of [config, ...layers]) {
      const answer = await fetch(`${copy.url}/v2/${copy.name}/blobs/uploads/?digest=${blob.digest}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: await bytes(`blobs/${blob.digest}`),
      });
      assert.equal(answer.status, 201);
    }
    const answer = await fetch(`${copy.url}/v2/${copy.name}/manifests/${manifest}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/vnd.oci.image.manifest.v1+json" },
      body: raw,
    });
    assert.equal(answer.status, 201);
  }
  // A document that is attached after it is read after it.
  const later = await pushArtifact(copy, {
    artifactType: "application/vnd.openvex+json",
    subject: digest,
    layers: [{ mediaType: OPENVEX, content }],
  });
  await eventually(async () => ((await manifests(copy)).includes(later) ? true : undefined));
  assert.deepEqual(await manifests(copy), [later]);

  // Nothing of it stays when its sources are gone, although it stood there.
  await platform.ok("DELETE", `/vulnerabilities/v2/advisories/${uid}`);
  await deleteReference(place, mine);
  await eventually(async () => ((await referrersOf(place, digest)).length === 0 ? true : undefined));
  assert.notEqual(referrer, renewed);
});

test("garbage collection leaves it with its image, and takes what it replaced and what has lost its image", async () => {
  const place = await newRepoPlace(platform, token);
  const digest = await newImage(place, "v1", "collected");
  await advise("collected", "CVE-2026-5", { detection: { manual: {} } });
  const first = await attached(place, digest, 1);
  const [layer = ""] = (
    (await (await pull(place, `manifests/${first}`)).json()) as { layers: { digest: string }[] }
  ).layers.map((each) => each.digest);
  await advise("collected", "CVE-2026-6", { detection: { manual: {} } });
  const second = await attached(place, digest, 2);
  const passGrace = async (): Promise<void> => {
    platform.clock.offsetMs += 2 * 3_600_000;
    await renewTokens();
    place.token = token;
  };
  const gone = (path: string): Promise<true> =>
    eventually(async () => ((await pull(place, path)).status === 404 ? true : undefined));
  await passGrace();
  await gone(`blobs/${layer}`);
  assert.equal(await attached(place, digest, 2), second);
  await deleteReference(place, digest);
  await passGrace();
  await gone(`manifests/${second}`);
});
