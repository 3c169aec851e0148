// A group that stood for a registry becomes an ordinary one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { OCI_IMAGE, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";

const PATH = "/registry/v2/upstreams";

test("detaching says what stays and what may be behind, and then the group is pushed to as any other", async (t) => {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, LOOPBACK);
  const { organization } = here.bootstrap;
  const group = await here.api("POST", `/iam/v2/groups/${organization.uid}`, { name: "hub" });
  const upstream = await here.api("POST", `${PATH}/${group.uid}`, { registry: hub.registry });
  const detach = async (query = ""): Promise<Record<string, unknown>> => ({
    ...(await here.api("POST", `${PATH}/${upstream.uid}:detach${query}`, {})),
  });
  const ask = (path: string, method = "GET", body?: string) =>
    here.ask(method, `/v2/acme/hub/${path}`, {
      token: here.registry,
      ...(body !== undefined && { bytes: body, headers: { "content-type": OCI_IMAGE } }),
    });
  assert.deepEqual(await detach("?validateOnly=true"), {
    uid: upstream.uid,
    registry: hub.registry,
    repos: "0",
    tags: "0",
    staleTags: "0",
  });
  const images = ["1", "2"].map((tag) => ({ tag, ...hub.push("team/app", tag, `content ${tag}`) }));
  for (const { tag, digest } of images) {
    assert.equal((await ask(`team/app/manifests/${tag}`)).status, 200);
    await eventually(async () => {
      const { status, json } = await ask(`team/app/_service/history/${tag}`);
      return status === 200 && json.history.some((record) => record.digest === digest);
    });
  }
  const fresh = await detach("?validateOnly=true");
  assert.deepEqual([fresh["repos"], fresh["tags"], fresh["staleTags"]], ["1", "2", "0"]);
  assert.ok(Date.parse(String(fresh["oldestCheckTime"])) > 0);
  await here.api("PATCH", `${PATH}/${upstream.uid}`, { tagTtl: "0s" });
  assert.equal((await detach("?validateOnly=true"))["staleTags"], "2");

  const { content = "" } = images[0] ?? {};
  const refused = await ask("team/app/manifests/mine", "PUT", content);
  assert.deepEqual([refused.status, /stands for/.test(refused.text)], [403, true], refused.text);
  assert.deepEqual(await detach(), { ...fresh, staleTags: "2" });
  assert.equal((await here.ask("GET", `${PATH}/${upstream.uid}`, { token: here.platform })).status, 404);
  const seen = hub.seen.length;
  for (const { tag } of images) assert.equal((await ask(`team/app/manifests/${tag}`)).status, 200);
  assert.equal((await ask("team/app/manifests/3")).status, 404);
  assert.equal((await ask("team/app/manifests/mine", "PUT", content)).status, 201);
  assert.equal(hub.seen.length, seen, "the registry is asked for nothing");
});

test("to detach takes the right to delete an upstream", async (t) => {
  const here = await startInstallation(t, LOOPBACK);
  const { organization } = here.bootstrap;
  const group = await here.api("POST", `/iam/v2/groups/${organization.uid}`, { name: "hub" });
  const { uid } = await here.api("POST", `${PATH}/${group.uid}`, { registry: "quay.io" });
  const status = async (role: string): Promise<number> => {
    const { identity } = await here.addIdentity(group.uid, role.replace(".", "-"), role);
    const token = await here.tokenFor("platform", identity);
    return (await here.ask("POST", `${PATH}/${uid}:detach`, { token, json: {} })).status;
  };
  assert.deepEqual([await status("registry.pull"), await status("viewer"), await status("editor")], [404, 403, 200]);
});
