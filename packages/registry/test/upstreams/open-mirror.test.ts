// A group of the public organization that stands for a registry: what callers without a log-in, as dockerd, get of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { OCI_IMAGE, OCI_INDEX, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";

test("without a log-in all of a free-tier tag comes by digest while it is copied, and nothing else", async (t) => {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, LOOPBACK);
  const { organization, publicOrganization } = here.bootstrap;
  const group = await here.api("POST", `/iam/v2/groups/${publicOrganization.uid}`, { name: "hub" });
  await here.api("POST", `/registry/v2/upstreams/${group.uid}`, { registry: hub.registry });
  assert.notEqual(organization.uid, publicOrganization.uid);
  const path = `${publicOrganization.name}/hub/library/nginx`;
  const image = hub.push("library/nginx", [], "of the index");
  const index = hub.pushIndex("library/nginx", "latest", [image]);
  const other = hub.push("library/nginx", "1.0", "of another tag");
  // Until they are let go, no blob comes: nothing is copied as a whole.
  const held: (() => void)[] = [];
  let isHeld = true;
  hub.misbehave = ({ path: asked, res }) => {
    if (!isHeld || !asked.includes("/blobs/")) return false;
    held.push(() => res.destroy());
    return true;
  };
  const token = async (): Promise<string> =>
    ((await (await fetch(`${here.url}/token?scope=repository:${path}:pull`)).json()) as { token: string }).token;
  const get = async (rest: string, method = "GET"): Promise<Response> =>
    await fetch(`${here.url}/v2/${path}/${rest}`, {
      method,
      headers: { authorization: `Bearer ${await token()}`, accept: `${OCI_IMAGE}, ${OCI_INDEX}` },
    });
  assert.equal((await get("manifests/latest", "HEAD")).status, 200);
  for (const { digest } of [index, image]) {
    const got = await get(`manifests/${digest}`);
    assert.deepEqual([got.status, got.headers.get("docker-content-digest")], [200, digest], await got.text());
  }
  const layer = get(`blobs/${image.layer}`);
  isHeld = false;
  for (const release of held) release();
  const answered = await layer;
  assert.ok([200, 503].includes(answered.status), `${answered.status} ${await answered.text()}`);
  for (const rest of ["manifests/1.0", `manifests/${other.digest}`, `blobs/${other.layer}`])
    assert.equal((await get(rest)).status, 403, rest);
});
