// Policies of signatures and what comes from other registries: mirrors, pull-through, and groups that stand for one.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { pushIndex, pushLayers, type PushTarget } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import type { Answer } from "../../../server/test/support/installation.ts";
import { type Pair, startPair } from "../../../server/test/support/mirror.ts";
import {
  cosignLayer,
  cosignPayload,
  COSIGN_SIGN,
  envelopeBundle,
  inToto,
  messageBundle,
  newKey,
  pushCosign,
  pushReferrer,
  type SigningKey,
} from "../../../server/test/support/signing.ts";

const AMD = { os: "linux", architecture: "amd64" };

interface World extends Pair {
  key: SigningKey;
  source: PushTarget;
  /** Pushes another image to the upstream. */
  push(tag: string): Promise<string>;
  sign(digest: string): Promise<string>;
  /** Asks here for a manifest, as somebody who may only pull. */
  pull(path: string): Promise<Answer>;
}

/** Two registries; the organization here has an enforcing policy for this action. */
async function startWorld(t: TestContext, action: "PULL" | "COPY"): Promise<World> {
  const pair = await startPair(t);
  const { here, upstream } = pair;
  const organization = here.bootstrap.organization.uid;
  const key = newKey();
  const { uid: signer } = await here.api("POST", `/registry/v2/signers/${organization}`, {
    name: "release",
    keys: [{ pem: key.pem }],
  });
  await here.api("POST", `/registry/v2/signaturePolicies/${organization}`, {
    name: "signed",
    mode: "GATE_MODE_ENFORCE",
    on: [`SIGNATURE_ACTION_${action}`],
    rules: [{ name: "image", signers: [signer] }],
  });
  const { identity } = await here.addIdentity(organization, "reader", "viewer");
  const token = await here.tokenFor("registry", identity);
  const source = { url: upstream.url, token: upstream.registry, name: "acme/app" };
  let images = 0;
  return {
    ...pair,
    key,
    source,
    push: (tag) => pushLayers(source, tag, [Buffer.from(`image ${(images += 1)}`)]),
    sign: (digest) => pushCosign({ ...source, repo: "" }, digest, [cosignLayer(key, cosignPayload(digest))]),
    pull: (path) => here.ask("GET", `/v2/${path}`, { token }),
  };
}

test("a mirror's tag stays while the policy keeps its digest back, its message names it, and it follows once signed", async (t) => {
  const { here, mirror, configOf, copied, push, sign } = await startWorld(t, "COPY");
  const first = await push("v1");
  await sign(first);
  const uid = await mirror("copy", configOf("app"));
  const pointsTo = async (tag: string): Promise<string> =>
    (await here.ask("HEAD", `/v2/acme/copy/manifests/${tag}`, { token: here.registry })).headers.get(
      "docker-content-digest",
    ) ?? "";
  // A run may come before the signatures are verified.
  const follows = (digest: string): Promise<boolean> =>
    eventually(async () => (await copied(uid)).message === "" && (await pointsTo("v1")) === digest);
  await follows(first);
  const second = await push("v1");
  const sync = await copied(uid);
  assert.match(sync.message, new RegExp(`v1.*${second}.*policy signed`));
  assert.equal(await pointsTo("v1"), first, "the tag stays");
  await sign(second);
  await follows(second);
});

test("what is pulled through is answered once its signatures were fetched, and rejected without", async (t) => {
  const { upstream, front, here, mirror, configOf, key, source, push, sign, pull } = await startWorld(t, "PULL");
  await mirror("copy", configOf("app", { pullThrough: true, interval: "604800s" }));
  await checkPulls("acme/copy");
  // The same below a group that stands for the registry.
  const organization = here.bootstrap.organization.uid;
  const { uid: hub } = await here.api("POST", `/iam/v2/groups/${organization}`, { name: "hub" });
  await here.api("POST", `/registry/v2/upstreams/${hub}`, {
    registry: front.url,
    username: "robot",
    password: upstream.platform,
    tagTtl: "1s",
    missingTtl: "1s",
  });
  await checkPulls("acme/hub/acme/app");

  async function checkPulls(name: string): Promise<void> {
    const get = async (reference: string, status: number): Promise<Answer> =>
      await eventually(async () => {
        const answer = await pull(`${name}/manifests/${reference}`);
        // While a signature that has come is verified, the client is to ask again.
        if (answer.status === status) return answer;
        assert.equal(answer.status, 503, `${reference}: ${answer.text}`);
        assert.equal(answer.headers.get("retry-after"), "5");
        return false;
      });
    const tag = name.replaceAll("/", "-");
    const unsigned = await push(`${tag}-unsigned`);
    const rejected = await get(unsigned, 403);
    assert.match(rejected.text, /is not signed as policy signed \(acme\) asks: rule image: 0 of 1 by release/);
    const bySig = await push(`${tag}-sig`);
    await sign(bySig);
    await get(bySig, 200);
    const byReferrer = await push(`${tag}-bundle`);
    await pushReferrer({ ...source, repo: "" }, byReferrer, envelopeBundle(key, inToto(byReferrer, COSIGN_SIGN)));
    await get(`${tag}-bundle`, 200);
    // A signature of the bytes of an image is verified once that is copied, which the first pull begins.
    const byBytes = await push(`${tag}-bytes`);
    const bytes = await fetch(`${source.url}/v2/${source.name}/manifests/${byBytes}`, {
      headers: { authorization: `Bearer ${source.token}` },
    });
    const message = Buffer.from(await bytes.arrayBuffer());
    await pushReferrer({ ...source, repo: "" }, byBytes, messageBundle(key, message));
    await eventually(async () => (await pull(`${name}/manifests/${byBytes}`)).status === 200);
    // An index that is signed, and its image right after it: neither is copied yet.
    const image = await push(`${tag}-image`);
    const index = await pushIndex(source, `${tag}-index`, [[image, AMD]]);
    await sign(index);
    await get(`${tag}-index`, 200);
    await get(image, 200);
    // An index that nobody signed vouches for nothing.
    const other = await push(`${tag}-other`);
    await pushIndex(source, `${tag}-both`, [
      [image, AMD],
      [other, { os: "linux", architecture: "arm64" }],
    ]);
    await get(`${tag}-both`, 403);
    await get(other, 403);
    // That a source fails does not show that there are no signatures.
    const hidden = await push(`${tag}-hidden`);
    await sign(hidden);
    front.intercept = ({ url = "" }, res) => {
      const isFailing = /\/referrers\/|\.sig$/.test(url);
      if (isFailing) res.writeHead(500).end();
      return isFailing;
    };
    const unknown = await pull(`${name}/manifests/${hidden}`);
    assert.equal(unknown.status, 503, unknown.text);
    front.intercept = () => false;
  }
});
