// What a registry that a group stands for may try.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type FakeHub, startFakeHub } from "../../../server/test/support/fake-hub.ts";
import {
  type Answer,
  type Installation,
  OCI_IMAGE,
  startInstallation,
} from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";

interface World {
  here: Installation;
  hub: FakeHub;
  group: string;
  pull(path: string): Promise<Answer>;
}

async function startWorld(t: TestContext): Promise<World> {
  const hub = await startFakeHub(t);
  const here = await startInstallation(t, LOOPBACK);
  const { uid: group } = await here.api("POST", `/iam/v2/groups/${here.bootstrap.organization.uid}`, { name: "hub" });
  await here.api("POST", `/registry/v2/upstreams/${group}`, { registry: hub.registry, missingTtl: "0s" });
  return { here, hub, group, pull: (path) => here.ask("GET", `/v2/acme/hub/${path}`, { token: here.registry }) };
}

const IMAGE = "library/nginx/manifests/1";
const repoCount = async (here: Installation): Promise<number> =>
  (await here.api("GET", "/registry/v2/repos?page_size=200")).repos.length;

test("redirects that lead on and on, or to what is no URL, end as an error, and make nothing here", async (t) => {
  const { here, hub, pull } = await startWorld(t);
  const before = await repoCount(here);
  hub.push("library/nginx", "1", "one");
  let hops = 0;
  for (const next of [() => `/v2/${IMAGE}?hop=${hops}`, () => "http://[", () => "file:///etc/passwd", () => ""]) {
    hub.misbehave = ({ res }) => {
      hops += 1;
      res.writeHead(307, { location: next() }).end();
      return true;
    };
    const answer = await pull(IMAGE);
    assert.deepEqual([answer.status, answer.headers.get("retry-after") !== null], [503, true], answer.text);
  }
  assert.ok(hops < 60, `${hops} requests`);
  assert.equal(await repoCount(here), before);
  hub.misbehave = () => false;
  assert.equal((await pull(IMAGE)).status, 200);
});

test("a place that a registry redirects to gets no token of it", async (t) => {
  const { hub, pull } = await startWorld(t);
  const { layer } = hub.push("library/nginx", "1", "one");
  const sent: (string | undefined)[] = [];
  const place = await startPlace(t, sent);
  hub.misbehave = ({ path, res }) => {
    if (!path.includes(`/blobs/${layer}`)) return false;
    res.writeHead(307, { location: `${place}/content` }).end();
    return true;
  };
  assert.equal((await pull(IMAGE)).status, 200);
  const got = await pull(`library/nginx/blobs/${layer}`);
  assert.deepEqual([got.status, got.text], [200, "one"]);
  assert.deepEqual(new Set(sent), new Set([undefined]));
});

test("a manifest or a blob that is not what its digest says is not served and not kept", async (t) => {
  const { here, hub, pull } = await startWorld(t);
  const before = await repoCount(here);
  const one = hub.push("library/nginx", "1", "one");
  hub.misbehave = ({ method, path, res }) => {
    if (method !== "GET" || !path.includes("/manifests/")) return false;
    res.writeHead(200, { "content-type": OCI_IMAGE }).end(one.content.replace("sha256", "sha257"));
    return true;
  };
  assert.equal((await pull(IMAGE)).status, 503);
  assert.equal(await repoCount(here), before);
  hub.misbehave = ({ path, res }) => {
    if (!path.includes(`/blobs/${one.layer}`)) return false;
    res.writeHead(200, { "content-length": 3 }).end("two");
    return true;
  };
  assert.equal((await pull(IMAGE)).status, 200);
  assert.equal((await pull(`library/nginx/blobs/${one.layer}`)).status, 503);
  hub.misbehave = () => false;
  const right = await eventually(async () => {
    const answer = await pull(`library/nginx/blobs/${one.layer}`);
    return answer.status === 200 && answer;
  });
  assert.equal(right.text, "one");
});

test("limits that are no numbers, or beyond all, are bounded; a repo below the group has no source of its own", async (t) => {
  const { here, hub, group, pull } = await startWorld(t);
  const said = [
    ["999999999999999", "-1"],
    ["9999999999;w=9999999999", "9999999999;w=9999999999"],
    ["a".repeat(10_000), ""],
  ];
  for (const [at, [limit = "", remaining = ""]] of said.entries()) {
    hub.push("library/nginx", `${at}`, `content ${at}`);
    hub.misbehave = ({ path, res }) => {
      if (path.includes("/manifests/")) {
        res.setHeader("ratelimit-limit", limit);
        res.setHeader("ratelimit-remaining", remaining);
      }
      return false;
    };
    assert.equal((await pull(`library/nginx/manifests/${at}`)).status, 200);
  }
  hub.misbehave = ({ res }) => {
    res.writeHead(429, { "retry-after": "99999999999" }).end();
    return true;
  };
  const limited = await pull("library/redis/manifests/1");
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers.get("retry-after")) <= 24 * 3_600);
  const syncConfig = { source: `${hub.registry}/library/redis` };
  const own = await here.ask("POST", `/registry/v2/repos/${group}`, {
    token: here.platform,
    json: { name: "own", syncConfig },
  });
  assert.equal(own.status, 400);
  assert.match(own.text, /syncConfig.source/);
});

/** A server that sends a blob to everybody, and notes the Authorization of each. */
async function startPlace(t: TestContext, sent: (string | undefined)[]): Promise<string> {
  const server = createServer((req, res) => {
    sent.push(req.headers.authorization);
    res.writeHead(200, { "content-length": 3 }).end("one");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
