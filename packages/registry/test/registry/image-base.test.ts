import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test, type TestContext } from "node:test";
import { type Artifact, pushArtifact, pushIndex } from "../../../server/test/support/catalog/push.ts";
import { startPlatform } from "../../../server/test/support/platform.ts";

const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";
const BASE_NAME = "org.opencontainers.image.base.name";
const BASE_DIGEST = "org.opencontainers.image.base.digest";

interface Base {
  digest: string;
  statedName: string;
  statedDigest: string;
  layerCount: number;
  images: { image: string; digest: string; tags: string[]; stated: boolean }[];
  incomplete: boolean;
}

/** The content of a layer, larger than that of one that holds nothing. */
const layer = (): Buffer => randomBytes(2_000);

async function start(t: TestContext) {
  const platform = await startPlatform();
  t.after(() => platform.close());
  const { organization, owner } = platform;
  const token = await platform.token(owner, { audience: new URL(platform.url).host });
  const uids = new Map<string, string>();
  /** Pushes an image with these layers, by digest without a tag. */
  const push = async (name: string, layers: readonly Buffer[], given: Partial<Artifact> & { id?: string } = {}) => {
    const { id = "", ...rest } = given;
    const digest = await pushArtifact(
      { url: platform.url, token, name: `acme/${name}` },
      {
        config: { mediaType: CONFIG, content: JSON.stringify({ architecture: "amd64", os: "linux", id }) },
        layers: layers.map((content) => ({ mediaType: LAYER, content })),
        ...rest,
      },
    );
    const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", `/registry/v2/repos?name=${name}`);
    uids.set(name, repos[0]?.uid ?? "");
    return digest;
  };
  const baseOf = async (name: string, digest: string, as?: string): Promise<Base> => {
    const path = `/registry/v2/repos/${uids.get(name) ?? ""}/digests/${digest}/base`;
    const { status, text } = await platform.call("GET", path, { token: await platform.token(as) });
    assert.equal(status, 200, text);
    return JSON.parse(text) as Base;
  };
  return { platform, organization, token, uids, push, baseOf };
}

test("the base of an image is the one with most of its first layers, and no sibling", async (t) => {
  const { push, baseOf } = await start(t);
  const [debian, runtime, app, other] = [layer(), layer(), layer(), layer()];
  await push("debian", [debian], { reference: "12" });
  const base = await push("runtime", [debian, runtime], { reference: "26.3" });
  await push("runtime", [debian, runtime], { id: "another configuration" });
  // A sibling, and one that has the same layers in another order.
  await push("sibling", [debian, runtime, other], { reference: "1" });
  await push("mixed", [runtime, debian], { reference: "1" });
  const digest = await push("web", [debian, runtime, app], { reference: "1.0" });
  const found = await baseOf("web", digest);
  assert.deepEqual([found.digest, found.layerCount, found.incomplete, found.statedName], [digest, 2, false, ""]);
  assert.deepEqual(
    found.images.map(({ image, tags, stated }) => [image, tags.join(), stated]),
    [
      ["acme/runtime", "26.3", false],
      ["acme/runtime", "", false],
    ],
  );
  assert.equal(found.images[0]?.digest, base);
  // That base has one itself, which in turn has none.
  assert.deepEqual(
    (await baseOf("runtime", base)).images.map(({ image }) => image),
    ["acme/debian"],
  );
});

test("of an image whose base is not here only its own statement is known", async (t) => {
  const { push, baseOf } = await start(t);
  const stated = `sha256:${"b".repeat(64)}`;
  const annotations = { [BASE_NAME]: `registry.example.com/base:${"1".repeat(600)}`, [BASE_DIGEST]: stated };
  const digest = await push("web", [layer(), layer()], { annotations });
  const { statedName, statedDigest, layerCount, images } = await baseOf("web", digest);
  assert.equal(statedName.length, 512);
  assert.deepEqual([statedDigest, layerCount, images], [stated, 0, []]);
  const wrong = await push("web", [layer()], { annotations: { [BASE_DIGEST]: "sha256:not a digest" } });
  assert.equal((await baseOf("web", wrong)).statedDigest, "");
  const labels = { [BASE_NAME]: "registry.example.com/of-a-label:2" };
  const config = { mediaType: CONFIG, content: JSON.stringify({ architecture: "amd64", config: { Labels: labels } }) };
  const labeled = await push("web", [layer()], { config });
  assert.equal((await baseOf("web", labeled)).statedName, labels[BASE_NAME]);
});

test("the stated image is found in its index, and an index is asked about the image for amd64", async (t) => {
  const { platform, token, push, baseOf } = await start(t);
  const first = layer();
  const own = await push("base", [first]);
  const target = { url: platform.url, token, name: "acme/base" };
  const index = await pushIndex(target, "1", [[own, { os: "linux", architecture: "amd64" }]]);
  const digest = await push("web", [first, layer()], { annotations: { [BASE_DIGEST]: index } });
  const web = { ...target, name: "acme/web" };
  const top = await pushIndex(web, "1", [[digest, { os: "linux", architecture: "amd64" }]]);
  const found = await baseOf("web", top);
  assert.equal(found.digest, digest);
  assert.deepEqual(
    found.images.map((each) => [each.digest, each.tags.join(), each.stated]),
    [[own, "1", true]],
  );
});

test("images that the caller may not list, and layers that hold nothing, are no base", async (t) => {
  const { platform, organization, push, baseOf, token, uids } = await start(t);
  const [shared, empty] = [layer(), Buffer.alloc(1_024)];
  const { uid: hidden } = await platform.group(organization, { name: "hidden" });
  const { uid: open } = await platform.group(organization, { name: "open" });
  await pushArtifact(
    { url: platform.url, token, name: "acme/hidden/base" },
    {
      reference: "1",
      config: { mediaType: CONFIG, content: '{"architecture":"amd64"}' },
      layers: [{ mediaType: LAYER, content: shared }],
    },
  );
  const digest = await push("open/web", [shared, layer()]);
  const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=web");
  uids.set("open/web", repos[0]?.uid ?? "");
  const identity = await platform.identity(open, "viewer");
  assert.notEqual(hidden, open);
  assert.equal((await baseOf("open/web", digest)).layerCount, 1);
  assert.deepEqual((await baseOf("open/web", digest, identity)).images, []);
  await push("nothing", [empty]);
  const above = await push("nothing", [empty, layer()]);
  assert.equal((await baseOf("nothing", above)).layerCount, 0);
});
