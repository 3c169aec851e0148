// Pulls below a group that stands for another registry.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type FakeHub, startFakeHub } from "../../../server/test/support/fake-hub.ts";
import {
  type Answer,
  digestOf,
  type Installation,
  startInstallation,
} from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { startFront } from "../../../server/test/support/upstream.ts";

/** A Moorage whose group acme/hub stands for a fake of Docker Hub. */
interface World {
  here: Installation;
  hub: FakeHub;
  /** The uid of the upstream. */
  uid: string;
  pull(path: string, options?: { method?: string; token?: string }): Promise<Answer>;
  change(fields: object): Promise<void>;
  /** Waits until the image with the tag is here whole. */
  copied(name: string, tag: string, digest: string): Promise<void>;
}

async function startWorld(t: TestContext, fields: object = {}): Promise<World> {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, LOOPBACK);
  const organization = here.bootstrap.organization.uid;
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${organization}`, { name: "hub" });
  const upstream = { registry: hub.registry, ...fields };
  const { uid } = await here.api("POST", `/registry/v2/upstreams/${group}`, upstream);
  const pull: World["pull"] = (path, { method = "GET", token = here.registry } = {}) =>
    here.ask(method, `/v2/acme/hub/${path}`, { token });
  return {
    here,
    hub,
    uid,
    pull,
    change: async (changed) => void (await here.api("PATCH", `/registry/v2/upstreams/${uid}`, changed)),
    copied: async (name, tag, digest) =>
      void (await eventually(async () => {
        const { status, json } = await pull(`${name}/_service/history/${tag}`);
        return status === 200 && json.history.some((record) => record.digest === digest);
      })),
  };
}

const statusOf = ({ headers }: Answer): string => headers.get("cache-status") ?? "";
const warningOf = ({ headers }: Answer): string => headers.get("warning") ?? "";
const repoCount = async (here: Installation): Promise<number> =>
  (await here.api("GET", "/registry/v2/repos?page_size=200")).repos.length;

test("what is pulled at any depth comes byte for byte, is kept, and is served while the registry is away", async (t) => {
  const { hub, pull, copied } = await startWorld(t);
  const images = ["amd64", "arm64"].map((each) => hub.push("team/tools/deep/app", [], each));
  const index = hub.pushIndex("team/tools/deep/app", "1", images);
  const head = await pull("team/tools/deep/app/manifests/1", { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("docker-content-digest")], [200, index.digest]);
  const first = await pull("team/tools/deep/app/manifests/1");
  assert.deepEqual([first.status, first.text], [200, index.content]);
  assert.equal(statusOf(head), "Moorage; fwd=miss; stored");
  assert.match(statusOf(first), /^Moorage; hit; ttl=\d+$/);
  const arm = await pull(`team/tools/deep/app/manifests/${images[1]?.digest}`);
  assert.deepEqual([arm.status, arm.text], [200, images[1]?.content]);
  const layer = await pull(`team/tools/deep/app/blobs/${images[1]?.layer}`);
  assert.deepEqual([layer.status, layer.text, statusOf(layer)], [200, "arm64", "Moorage; fwd=miss"]);
  await copied("team/tools/deep/app", "1", index.digest);
  // The second answer may be that of the first once more.
  for (const path of [`manifests/${index.digest}`, `blobs/${images[1]?.layer}`])
    for (let time = 0; time < 3; time++)
      assert.match(statusOf(await pull(`team/tools/deep/app/${path}`)), /^Moorage; hit/, `${path}, ${time}`);
  hub.misbehave = ({ res }) => {
    res.destroy();
    return true;
  };
  const paths = ["manifests/1", ...images.flatMap(({ digest, layer: one }) => [`manifests/${digest}`, `blobs/${one}`])];
  for (const path of paths) {
    const answer = await pull(`team/tools/deep/app/${path}`);
    assert.equal(answer.status, 200, path);
    assert.match(statusOf(answer), /^Moorage; hit/, path);
  }
});

test("a hundred clients of one tag are one HEAD and one GET there", async (t) => {
  const { hub, pull } = await startWorld(t);
  const { digest } = hub.push("library/nginx", "1", "one");
  const answers = await Promise.all(Array.from({ length: 100 }, () => pull("library/nginx/manifests/1")));
  assert.deepEqual(
    new Set(answers.map(({ status, text }) => `${status} ${digestOf(text)}`)),
    new Set([`200 ${digest}`]),
  );
  assert.deepEqual(
    hub.seen.filter((each) => each.includes("/manifests/1")),
    ["HEAD library/nginx/manifests/1"],
  );
  assert.equal(hub.asked(`GET library/nginx/manifests/${digest}`), 1);
});

test("what the registry lacks makes nothing here, and is asked for once", async (t) => {
  const { here, hub, pull, change } = await startWorld(t);
  hub.push("library/nginx", "1", "one");
  const before = await repoCount(here);
  let asked = 0;
  for (let times = 0; times < 3; times += 1) {
    const answers = [
      await pull("library/nginx/manifests/2"),
      await pull("no/such/image/manifests/1"),
      await pull(`no/such/image/manifests/sha256:${"0".repeat(64)}`),
      await pull(`no/such/image/blobs/sha256:${"0".repeat(64)}`),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 404, 404, 404],
    );
    if (times === 0) asked = hub.seen.length;
  }
  assert.equal(await repoCount(here), before);
  assert.equal(hub.seen.length, asked);
  const groups = await here.api("GET", "/iam/v2/groups?page_size=200");
  assert.deepEqual(
    groups.groups.filter(({ name }) => ["library", "no", "such"].includes(name)),
    [],
  );
  await change({ missingTtl: "0s" });
  hub.push("library/nginx", "3", "three");
  assert.equal((await pull("library/nginx/manifests/3")).status, 200);
  assert.equal(await repoCount(here), before + 1);
});

test("a registry that limits us is left alone until it says, and what is here is served and says so", async (t) => {
  const { here, hub, pull, change, copied, uid } = await startWorld(t);
  const one = hub.push("library/nginx", "1", "one");
  hub.limit = 100;
  hub.remaining = 76;
  assert.equal((await pull("library/nginx/manifests/1")).status, 200);
  await copied("library/nginx", "1", one.digest);
  const noted = await eventually(async () => {
    const { rate } = await here.api<{ rate?: { limit: number; remaining: number; resetTime: string } }>(
      "GET",
      `/registry/v2/upstreams/${uid}`,
    );
    return rate;
  });
  assert.deepEqual([noted.limit, noted.remaining <= 76, noted.resetTime > new Date().toISOString()], [100, true, true]);

  await change({ tagTtl: "0s" });
  hub.push("library/nginx", "1", "two");
  hub.remaining = 0;
  const stale = await pull("library/nginx/manifests/1");
  assert.deepEqual([stale.status, digestOf(stale.text)], [200, one.digest]);
  const text = new RegExp(`^299 - "${hub.host} limits us; as of \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ"$`);
  assert.match(warningOf(stale), text);
  const asked = hub.seen.length;
  const missing = await pull("library/redis/manifests/1");
  assert.equal(missing.status, 429, missing.text);
  const after = Number(missing.headers.get("retry-after"));
  assert.ok(after > 3_000 && after <= 3_600, String(after));
  for (let times = 0; times < 20; times += 1) {
    const again = await pull("library/nginx/manifests/1");
    assert.deepEqual([again.status, digestOf(again.text)], [200, one.digest]);
    assert.match(warningOf(again), /limits us/);
  }
  assert.equal(hub.seen.length, asked, "nothing is asked until Retry-After");
  const shown = await eventually(async () => {
    const { lastError } = await here.api<{ lastError: string }>("GET", `/registry/v2/upstreams/${uid}`);
    return lastError !== "" && lastError;
  });
  assert.match(shown, /limits us|429/);
});

test("with few requests left, only what is missing is asked for", async (t) => {
  const { hub, pull, change, copied } = await startWorld(t);
  const one = hub.push("library/nginx", "1", "one");
  hub.push("library/redis", "7", "redis");
  hub.limit = 100;
  hub.remaining = 10;
  assert.equal((await pull("library/nginx/manifests/1")).status, 200);
  await copied("library/nginx", "1", one.digest);
  await change({ tagTtl: "0s" });
  const heads = hub.asked("HEAD library/nginx/manifests/1");
  const again = await pull("library/nginx/manifests/1");
  assert.equal(again.status, 200);
  assert.match(warningOf(again), /limits us/);
  assert.equal(hub.asked("HEAD library/nginx/manifests/1"), heads);
  assert.equal((await pull("library/redis/manifests/7")).status, 200);
});

test("a registry that is silent, fails or lacks the tag does not hold up what is here; 503 for what is not", async (t) => {
  const { hub, pull, change, copied } = await startWorld(t);
  const one = hub.push("library/nginx", "1", "one");
  assert.equal((await pull("library/nginx/manifests/1")).status, 200);
  await copied("library/nginx", "1", one.digest);
  await change({ tagTtl: "0s", missingTtl: "0s" });
  const here = async (words: RegExp, cacheStatus: RegExp, digest = one.digest): Promise<void> => {
    const answer = await pull("library/nginx/manifests/1");
    assert.deepEqual([answer.status, digestOf(answer.text)], [200, digest]);
    assert.match(warningOf(answer), words);
    assert.match(statusOf(answer), cacheStatus);
  };
  const waiting: (() => void)[] = [];
  hub.misbehave = ({ res }) => {
    waiting.push(() => res.destroy());
    return true;
  };
  await here(/does not answer; as of/, /^Moorage; hit; ttl=/);
  hub.misbehave = ({ res }) => {
    res.writeHead(502).end();
    return true;
  };
  for (const end of waiting) end();
  await eventually(async () => /fails/.test(warningOf(await pull("library/nginx/manifests/1"))));
  await here(/fails; as of/, /^Moorage; fwd=stale; fwd-status=502$/);
  const missing = await pull("library/redis/manifests/1");
  assert.deepEqual([missing.status, missing.headers.get("retry-after") !== null], [503, true]);
  hub.misbehave = () => false;
  hub.remove("library/nginx", "1");
  await eventually(async () => /no longer has it/.test(warningOf(await pull("library/nginx/manifests/1"))));
  await here(/no longer has it; as of/, /^Moorage; fwd=stale; fwd-status=404$/);
  const two = hub.push("library/nginx", "1", "two");
  const moved = await pull("library/nginx/manifests/1");
  assert.deepEqual([digestOf(moved.text), warningOf(moved)], [two.digest, ""]);
  await copied("library/nginx", "1", two.digest);
  await here(/^$/, /^Moorage; fwd=stale; fwd-status=200; ttl=0$/, two.digest);
});

test("nothing is pushed there, and only those who may pull have something come", async (t) => {
  const { here, hub, pull } = await startWorld(t);
  hub.push("library/nginx", "1", "one");
  const push = await here.pushImage("acme/hub/library/mine", "1", "mine");
  assert.equal(push.answer.status, 403);
  assert.match(push.answer.json.message, new RegExp(`acme/hub stands for ${hub.host}$`));
  const { uid: other } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "other" });
  const { identity } = await here.addIdentity(other, "stranger", "owner");
  const stranger = await here.tokenFor("registry", identity);
  const { token: nobody } = await here.grantsOf(["repository:acme/hub/library/nginx:pull"]);
  for (const token of [stranger, nobody])
    assert.equal((await pull("library/nginx/manifests/1", { token })).status, 403);
  assert.equal((await here.ask("GET", "/v2/acme/hub/library/nginx/manifests/1")).status, 401);
  assert.deepEqual(hub.seen, []);
  const { uid: hubGroup } = (await here.api("GET", "/iam/v2/groups?name=hub")).groups[0] ?? { uid: "" };
  const { identity: puller } = await here.addIdentity(hubGroup, "puller", "registry.pull");
  const { access } = await here
    .grantsOf(["repository:acme/hub/library/nginx:pull,push"], `${puller}:${await here.tokenFor("registry", puller)}`)
    .catch(() => ({ access: undefined }));
  assert.ok(access === undefined || !access["acme/hub/library/nginx"]?.includes("push"));
  const token = await here.tokenFor("registry", puller);
  assert.equal((await pull("library/nginx/manifests/1", { token })).status, 200);
});

test("rules let names through, and denied ones not even from here; disabled, only what is here is served", async (t) => {
  const { hub, pull, change, copied } = await startWorld(t, { allowed: ["library/*"], denied: ["*/miner"] });
  const one = hub.push("library/nginx", "1", "one");
  hub.push("library/miner", "1", "bad");
  hub.push("team/app", "1", "app");
  assert.equal((await pull("library/nginx/manifests/1")).status, 200);
  await copied("library/nginx", "1", one.digest);
  for (const name of ["library/miner", "team/app"]) {
    const answer = await pull(`${name}/manifests/1`);
    assert.equal(answer.status, 403);
    assert.match(answer.json.message, new RegExp(`do not let ${name} of`));
  }
  assert.equal(hub.asked("HEAD library/miner") + hub.asked("HEAD team/app"), 0);
  await change({ denied: ["library/nginx"] });
  assert.equal((await pull("library/nginx/manifests/1")).status, 403);
  assert.equal((await pull(`library/nginx/blobs/${one.layer}`)).status, 403);
  await change({ allowed: [], denied: [], disabled: true, tagTtl: "0s" });
  const asked = hub.seen.length;
  const kept = await pull("library/nginx/manifests/1");
  assert.equal(kept.status, 200);
  assert.match(warningOf(kept), /is not asked/);
  assert.equal((await pull("team/app/manifests/1")).status, 404);
  assert.equal((await pull(`library/nginx/blobs/sha256:${"0".repeat(64)}`)).status, 404);
  assert.equal(hub.seen.length, asked);
});

test("without the upstream its repos are ordinary: they are pushed to, and the registry is not asked", async (t) => {
  const { here, hub, pull, copied, uid } = await startWorld(t);
  const one = hub.push("library/nginx", "1", "one");
  assert.equal((await pull("library/nginx/manifests/1")).status, 200);
  await copied("library/nginx", "1", one.digest);
  const { uid: repo = "" } = (await here.api("GET", "/registry/v2/repos?name=nginx")).repos[0] ?? {};
  const move = await here.ask("POST", `/registry/v2/tags/${repo}`, {
    token: here.platform,
    json: { name: "mine", digest: one.digest },
  });
  assert.deepEqual([move.status, move.text.includes("STANDS_FOR_REGISTRY")], [400, true], move.text);
  await here.api("DELETE", `/registry/v2/upstreams/${uid}`);
  const asked = hub.seen.length;
  const kept = await pull("library/nginx/manifests/1");
  assert.deepEqual([kept.status, statusOf(kept)], [200, ""]);
  assert.equal((await pull("library/nginx/manifests/2")).status, 404);
  assert.equal((await here.pushImage("acme/hub/library/nginx", "2", "mine")).answer.status, 201);
  assert.equal(hub.seen.length, asked);
});

test("a group stands for another Moorage, with a user and below a prefix", async (t) => {
  const upstream = await startInstallation(t);
  const front = await startFront(t, upstream.url);
  const here = await startInstallation(t, LOOPBACK);
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "far" });
  await here.api("POST", `/registry/v2/upstreams/${group}`, {
    registry: front.url,
    prefix: "acme/team",
    username: "robot",
    password: upstream.platform,
  });
  const image = await upstream.pushImage("acme/team/app", "v1", "one");
  await upstream.pushImage("acme/other", "v1", "two");
  const got = await here.ask("GET", "/v2/acme/far/app/manifests/v1", { token: here.registry });
  assert.deepEqual([got.status, digestOf(got.text)], [200, image.digest]);
  const layer = await here.ask("GET", `/v2/acme/far/app/blobs/${image.layer}`, { token: here.registry });
  assert.equal(digestOf(layer.text), image.layer);
  assert.equal((await here.ask("GET", "/v2/acme/far/other/manifests/v1", { token: here.registry })).status, 404);
});
