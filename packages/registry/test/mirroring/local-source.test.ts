import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { insertIdentity } from "../../../server/test/support/identities.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Answer, blamed, rows, startPlatform } from "../../../server/test/support/platform.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// A repo that follows another repo of this installation, named by its uid or by its image's path.

interface Sync {
  state: string;
  message: string;
  lastAttemptTime?: string;
}

async function open(t: TestContext, env: Record<string, string> = {}) {
  const platform = await startPlatform({ MOORAGE_GC_INTERVAL: "0", ...env });
  t.after(() => platform.close());
  const audience = new URL(platform.url).host;
  const sync = async (uid: string) => platform.ok<Sync>("GET", `/registry/v2/repos/${uid}/sync`);
  return {
    platform,
    sync,
    /** Requests a run, and returns its result. */
    async copied(uid: string): Promise<Sync> {
      const before = await sync(uid);
      if (before.state !== "SYNC_STATE_PENDING") await platform.ok("POST", `/registry/v2/repos/${uid}:sync`, {});
      return eventually(async () => {
        const now = await sync(uid);
        const isEnded = !["SYNC_STATE_PENDING", "SYNC_STATE_RUNNING"].includes(now.state);
        return isEnded && now.lastAttemptTime !== before.lastAttemptTime && now;
      });
    },
    create: async (name: string, syncConfig: object, token?: string): Promise<Answer> =>
      platform.call("POST", `/registry/v2/repos/${platform.organization}`, {
        token: token ?? (await platform.token()),
        body: { name, syncConfig },
      }),
    pull: async (path: string): Promise<Answer> =>
      platform.call("GET", `/v2/${path}`, { token: await platform.token(platform.owner, { audience }) }),
    repo: async (name: string): Promise<string> =>
      (await rows(platform.ok("GET", `/registry/v2/repos?name=${name}`), "repos"))[0]?.uid ?? "",
  };
}

test("a source by path and one by uid are followed: tags, their moves, and pulls through", async (t) => {
  const { platform, create, copied, pull, repo } = await open(t);
  const digest = await pushImage(platform, "acme/team/app", "v1");
  for (const [name, source] of [
    ["by-path", "acme/team/app"],
    ["by-uid", await repo("app")],
  ] as const) {
    const made = await create(name, { source });
    assert.equal(made.status, 200, made.text);
    assert.equal((made.body["syncConfig"] as { source: string }).source, source);
    const { state, message } = await copied(made.body.uid);
    assert.deepEqual([state, message], ["SYNC_STATE_SUCCEEDED", ""]);
    const answer = await pull(`acme/${name}/manifests/v1`);
    assert.equal(answer.headers["docker-content-digest"], digest);
    for (const layer of (JSON.parse(answer.text) as { layers: { digest: string }[] }).layers)
      assert.equal((await pull(`acme/${name}/blobs/${layer.digest}`)).status, 200);
    await pushImage(platform, "acme/team/app", `after-${name}`);
    assert.equal((await copied(made.body.uid)).state, "SYNC_STATE_SUCCEEDED");
    assert.equal((await pull(`acme/${name}/manifests/after-${name}`)).status, 200);
  }
  const through = await create("through", { source: "acme/team/app", pullThrough: true, tagPattern: "new.*" });
  assert.equal((await copied(through.body.uid)).state, "SYNC_STATE_SUCCEEDED");
  await pushImage(platform, "acme/team/app", "new-1");
  const pulled = await pull("acme/through/manifests/new-1");
  assert.equal(pulled.status, 200, pulled.text);
  const [layer] = (JSON.parse(pulled.text) as { layers: { digest: string }[] }).layers;
  const blob = await pull(`acme/through/blobs/${layer?.digest}`);
  assert.deepEqual([blob.status, blob.text], [200, "layer"]);
});

test("a source that cannot work is refused when it is set, and nothing is made", async (t) => {
  const { platform, create, repo } = await open(t);
  await pushImage(platform, "acme/team/app", "v1");
  const app = await repo("app");
  const refused = async (syncConfig: object, token?: string): Promise<string[]> => {
    const answer = await create("refused", syncConfig, token);
    assert.equal(answer.status, 400, answer.text);
    return blamed(answer);
  };
  for (const source of [
    "acme/nothing",
    "nobody/app",
    `${platform.organization}/${"0".repeat(16)}`,
    platform.organization,
    "acme/refused",
    "http://registry.example.com/app",
    "localhost/app",
    "127.0.0.1:5000/app",
    "10.0.0.1/app",
    "[::1]:5000/app",
  ])
    assert.deepEqual(await refused({ source }), ["syncConfig.source"], source);
  assert.deepEqual(await refused({ source: "acme/team/app", username: "ann", password: "x" }), ["syncConfig.username"]);
  assert.equal(await repo("refused"), "");

  // Who may make repos and see none of the source's images gets the same answer as for one that is not there.
  const maker = await platform.identity(platform.organization);
  const { uid: corner } = await platform.group(platform.organization, { name: "corner" });
  await platform.bind(corner, maker, await platform.role("owner"));
  const asMaker = async (source: string): Promise<Answer> =>
    platform.call("POST", `/registry/v2/repos/${corner}`, {
      token: await platform.token(maker),
      body: { name: "copy", syncConfig: { source } },
    });
  const [there, missing] = [await asMaker("acme/team/app"), await asMaker("acme/team/app2")];
  assert.deepEqual([there.status, blamed(there)], [400, ["syncConfig.source"]]);
  assert.equal(there.text.replaceAll("app", ""), missing.text.replaceAll("app2", ""));

  // Neither itself, nor a circle.
  const update = async (uid: string, source: string): Promise<Answer> =>
    platform.call("PATCH", `/registry/v2/repos/${uid}?updateMask=syncConfig`, {
      token: await platform.token(),
      body: { syncConfig: { source } },
    });
  const one = (await create("one", { source: app })).body.uid;
  const two = (await create("two", { source: "acme/one" })).body.uid;
  for (const source of [app, "acme/team/app", one, "acme/one", two])
    assert.deepEqual(blamed(await update(app, source)), ["syncConfig.source"], source);
});

test("a source in another organization is followed while the one who set it may pull there", async (t) => {
  const { platform, create, copied, pull } = await open(t);
  await pushImage(platform, "public/tool", "v1");
  // A person: identities of an organization hold nothing in another.
  const owner = await platform.role("owner");
  const copier = await platform.transact((tx) => insertIdentity(tx, "copier", [[platform.organization, owner]]));
  const token = await platform.token(copier);
  assert.deepEqual(blamed(await create("copy", { source: "public/tool" }, token)), ["syncConfig.source"]);
  const { uid: open_ } = platform.bootstrap.publicOrganization;
  const binding = await platform.bind(open_, copier, await platform.role("registry.pull"));
  const made = await create("copy", { source: "public/tool" }, token);
  assert.equal(made.status, 200, made.text);
  assert.equal((await copied(made.body.uid)).state, "SYNC_STATE_SUCCEEDED");
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
  await pushImage(platform, "public/tool", "v2");
  const { state, message } = await copied(made.body.uid);
  assert.equal(state, "SYNC_STATE_FAILED");
  assert.match(message, /may pull/);
  assert.equal((await pull("acme/copy/manifests/v2")).status, 404);
  assert.equal((await pull("acme/copy/manifests/v1")).status, 200, "what was copied stays");
});

test("where private networks are allowed, http and private addresses are sources", async (t) => {
  const { create } = await open(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  for (const [at, source] of ["http://127.0.0.1:9/app", "localhost/app", "https://10.0.0.1/app"].entries())
    assert.equal((await create(`fine-${at}`, { source })).status, 200, source);
});
