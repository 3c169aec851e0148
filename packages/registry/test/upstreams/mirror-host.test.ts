// A host at which paths have no prefix, for clients that take a mirror.
import assert from "node:assert/strict";
import { request } from "node:http";
import { test, type TestContext } from "node:test";
import { createAddresses } from "../../../kernel/src/core/addresses.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type FakeHub, startFakeHub } from "../../../server/test/support/fake-hub.ts";
import { digestOf, type Installation, startInstallation } from "../../../server/test/support/installation.ts";
import { LOOPBACK } from "../../../server/test/support/mirror.ts";
import { loadConfig } from "../../../server/src/index.ts";

interface Got {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Asks the mirror host. */
function ask(
  { url }: Installation,
  path: string,
  { method = "GET", host = "mirror.test", headers = {} }: { method?: string; host?: string; headers?: object } = {},
): Promise<Got> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { ...headers, host: `${host}:${port}` } }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("end", () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on("error", reject).end();
  });
}

/** The three requests of containerd: without a token, for the token of the challenge and its own scope, and with it. */
async function pullAs(here: Installation, path: string, name: string, authorization?: string): Promise<Got> {
  const first = await ask(here, path);
  if (first.status !== 401) return first;
  const challenge = String(first.headers["www-authenticate"]);
  const [, realm = "", scope = ""] = /realm="([^"]+)".*scope="([^"]+)"/.exec(challenge) ?? [];
  const url = new URL(realm);
  url.searchParams.append("scope", scope);
  url.searchParams.append("scope", `repository:${name}:pull`);
  const answer = await ask(here, url.pathname + url.search, { headers: authorization ? { authorization } : {} });
  if (answer.status !== 200) return answer;
  const { token } = JSON.parse(answer.text) as { token: string };
  return await ask(here, path, { headers: { authorization: `Bearer ${token}` } });
}

interface World {
  here: Installation;
  hub: FakeHub;
  quay: FakeHub;
  /** An Authorization header of somebody who may pull. */
  puller: string;
}

async function startWorld(t: TestContext, env: Record<string, string> = {}, fields: object = {}): Promise<World> {
  const [hub, quay] = [await startFakeHub(t), await startFakeHub(t)];
  const here = await startInstallation(t, { ...LOOPBACK, MOORAGE_MIRRORS: "mirror.test=acme/mirrors", ...env });
  const group = async (parent: string, name: string): Promise<string> =>
    (await here.api("POST", `/iam/v2/groups/${parent}`, { name })).uid;
  const mirrors = await group(here.bootstrap.organization.uid, "mirrors");
  for (const [name, { registry }] of Object.entries({ hub, quay }))
    await here.api("POST", `/registry/v2/upstreams/${await group(mirrors, name)}`, { registry, ...fields });
  await here.api("POST", `/registry/v2/upstreams/${await group(mirrors, "docker")}`, {
    registry: "docker.io",
    disabled: true,
  });
  const { identity } = await here.addIdentity(mirrors, "node", "registry.pull");
  const puller = `Basic ${Buffer.from(`node:${await here.tokenFor("registry", identity)}`).toString("base64")}`;
  return { here, hub, quay, puller };
}

test("one host answers for several registries by ns, with tokens of the real names", async (t) => {
  const { here, hub, quay, puller } = await startWorld(t);
  const one = hub.push("library/nginx", "1", "one");
  const two = quay.push("prometheus/prometheus", "v3", "two");
  const first = await ask(here, `/v2/library/nginx/manifests/1?ns=${hub.host}`);
  const challenge = String(first.headers["www-authenticate"]);
  assert.equal(first.status, 401);
  assert.match(challenge, new RegExp(`realm="http://mirror\\.test:\\d+/token\\?ns=${encodeURIComponent(hub.host)}"`));
  assert.match(challenge, /scope="repository:acme\/mirrors\/hub\/library\/nginx:pull"/);
  const pulled = await pullAs(here, `/v2/library/nginx/manifests/1?ns=${hub.host}`, "library/nginx", puller);
  assert.deepEqual([pulled.status, digestOf(pulled.text)], [200, one.digest]);
  const layer = await pullAs(here, `/v2/library/nginx/blobs/${one.layer}?ns=${hub.host}`, "library/nginx", puller);
  assert.deepEqual([layer.status, layer.text], [200, "one"]);
  const other = await pullAs(
    here,
    `/v2/prometheus/prometheus/manifests/v3?ns=${quay.host}`,
    "prometheus/prometheus",
    puller,
  );
  assert.deepEqual([other.status, digestOf(other.text)], [200, two.digest]);
  assert.deepEqual([hub.asked("HEAD prometheus"), quay.asked("HEAD library")], [0, 0]);
  const nobody = await pullAs(here, `/v2/library/nginx/manifests/1?ns=${hub.host}`, "library/nginx");
  assert.equal(nobody.status, 403);
});

test("one registry limits us and one is down, and what is here is pulled from both", async (t) => {
  const { here, hub, quay, puller } = await startWorld(t, {}, { tagTtl: "0s" });
  const images = [hub, quay].map((each, at) => ({ each, ...each.push("team/app", "1", `content ${at}`) }));
  const pull = (host: string): Promise<Got> => pullAs(here, `/v2/team/app/manifests/1?ns=${host}`, "team/app", puller);
  for (const { each, digest } of images) {
    assert.equal(digestOf((await pull(each.host)).text), digest);
    await eventually(async () => String((await pull(each.host)).headers["cache-status"]).includes("fwd=stale"));
  }
  hub.misbehave = ({ res }) => {
    res.writeHead(429, { "retry-after": "3600" }).end();
    return true;
  };
  quay.misbehave = ({ res }) => {
    res.destroy();
    return true;
  };
  for (const { each, digest } of images) {
    const kept = await pull(each.host);
    assert.deepEqual([kept.status, digestOf(kept.text)], [200, digest]);
    assert.match(String(kept.headers["warning"]), /limits us|does not answer/);
  }
});

test("ns is a key: what is no registry here is 404, is not connected to, and nothing is pushed", async (t) => {
  const { here, hub, puller } = await startWorld(t);
  hub.push("library/nginx", "1", "one");
  const trap = await startFakeHub(t);
  for (const ns of [
    trap.host,
    trap.registry,
    "169.254.169.254",
    "http://169.254.169.254/latest",
    `${hub.host}/x`,
    "..",
    "a".repeat(5_000),
    "",
  ]) {
    const got = await ask(here, `/v2/library/nginx/manifests/1?ns=${encodeURIComponent(ns)}`, {
      headers: { authorization: puller },
    });
    assert.equal(got.status, 404, ns.slice(0, 50));
  }
  assert.deepEqual([trap.seen, hub.seen], [[], []]);
  // Without ns it is docker.io's, which is asked for nothing here.
  const docker = await ask(here, "/v2/nginx/manifests/1", { headers: { authorization: puller } });
  assert.equal(docker.status, 404);
  assert.match(
    String((await ask(here, "/v2/nginx/manifests/1")).headers["www-authenticate"]),
    /acme\/mirrors\/docker\/library\/nginx/,
  );
  const push = await ask(here, `/v2/library/nginx/blobs/uploads/?ns=${hub.host}`, {
    method: "POST",
    headers: { authorization: puller },
  });
  assert.equal(push.status, 403);
  // At the registry's own host ns means nothing.
  const own = await here.ask("GET", `/v2/acme/mirrors/hub/library/nginx/manifests/1?ns=quay.io`, {
    token: here.registry,
  });
  assert.equal(own.status, 200);
});

test("a token of the mirror host pulls what was asked for, and nothing else", async (t) => {
  const { here, hub } = await startWorld(t);
  const owner = `Basic ${Buffer.from(`owner:${here.registry}`).toString("base64")}`;
  const scopes = [
    "repository:acme/other:pull",
    "repository:library/nginx:pull,push",
    "repository:acme/mirrors/quay/a:pull",
    "registry:catalog:*",
  ];
  const query = scopes.map((scope) => `scope=${encodeURIComponent(scope)}`).join("&");
  const { status, text } = await ask(here, `/token?ns=${hub.host}&${query}`, { headers: { authorization: owner } });
  assert.equal(status, 200, text);
  const { token } = JSON.parse(text) as { token: string };
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { access: unknown };
  assert.deepEqual(claims.access, [
    { type: "repository", name: "acme/mirrors/hub/acme/other", actions: ["pull"] },
    { type: "repository", name: "acme/mirrors/hub/library/nginx", actions: ["pull"] },
    { type: "repository", name: "acme/mirrors/quay/a", actions: ["pull"] },
  ]);
});

test("unknown credentials count as none in the networks of the upstream alone, whatever is forwarded", async (t) => {
  const foreign = `Basic ${Buffer.from("someone:dckr_pat_of_another_registry").toString("base64")}`;
  for (const [networks, status] of [
    [["127.0.0.0/8", "::1"], 200],
    [["10.0.0.0/8"], 401],
  ] as const) {
    const { here, hub } = await startWorld(t, {}, { anonymousNetworks: networks });
    const headers = { authorization: foreign, "x-forwarded-for": "10.1.2.3", forwarded: "for=10.1.2.3" };
    const got = await ask(here, `/token?ns=${hub.host}&scope=repository:library/nginx:pull`, { headers });
    assert.equal(got.status, status, got.text);
    const elsewhere = await here.ask("GET", "/token", { headers: { authorization: foreign } });
    assert.equal(elsewhere.status, 401, "at the registry's own host they are wrong");
  }
});

test("a mirror host is none of the registry's own", () => {
  const config = (mirrors: string) =>
    loadConfig({
      MOORAGE_MIRRORS: mirrors,
      MOORAGE_BASE_URL: "https://registry.example.com",
      MOORAGE_DATA_DIR: "/nowhere",
    });
  assert.throws(
    () =>
      createAddresses({ ...config("registry.example.com=acme/mirrors"), registryUrl: "https://registry.example.com" }),
    {
      message: /^MOORAGE_MIRRORS: registry.example.com is the registry's own host/,
    },
  );
  for (const wrong of ["mirror.example.com", "=acme", "mirror.example.com=", "mirror.example.com=Acme", "a b=acme"])
    assert.throws(() => config(wrong), { message: /^MOORAGE_MIRRORS: / }, wrong);
});
