import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { Capability } from "@moorage/api";
import { decodeJwt, SignJWT } from "jose";
import { anyDigest, digestOf, OCI_INDEX, startRegistry } from "../../../server/test/support/registry-server.ts";
import type { Ask, RegistryServer } from "../../../server/test/support/registry-server.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

const basic = (password: string, user = "_token"): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const form = (fields: Record<string, string>): Ask => ({
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(fields).toString(),
});

/** The access of the token that the credentials get, as `name:actions`. */
async function granted(
  registry: RegistryServer,
  query: string,
  headers: { authorization?: string } = {},
): Promise<string[]> {
  const answer = await registry.ask(`/token${query}`, { headers: { ...headers } });
  assert.equal(answer.status, 200, answer.text);
  const access = decodeJwt(answer.json.token)["access"] as { name: string; actions: string[] }[];
  return access.map(({ name, actions }) => `${name}:${actions.join(",")}`);
}

test("a token is valid only for the requested repository, and has the fields of the protocol", async (t) => {
  const registry = await startRegistry(t);
  await registry.pushManifest("acme/app", "v1", (await registry.image("acme/app", "one")).body);
  await registry.pushManifest("acme/other", "v1", (await registry.image("acme/other", "one")).body);
  const platform = await registry.mint(registry.viewer, { audiences: [registry.baseUrl] });
  const { json, headers } = await registry.ask(
    `/token?service=${registry.host}&account=x&scope=repository:acme/app:pull`,
    { headers: basic(platform) },
  );
  assert.equal(headers.get("cache-control"), "no-store");
  assert.deepEqual(Object.keys(json).sort(), ["access_token", "expires_in", "issued_at", "token"]);
  assert.deepEqual([json.token, json.expires_in], [json.access_token, 300]);
  assert.ok(Number.isFinite(Date.parse(json.issued_at)));
  const { aud, sub, access } = decodeJwt(json.token);
  assert.deepEqual(
    [aud, sub, access],
    [registry.host, registry.viewer, [{ type: "repository", name: "acme/app", actions: ["pull"] }]],
  );
  assert.equal((await registry.ask("/v2/acme/app/manifests/v1", { token: json.token })).status, 200);
  assert.equal((await registry.historyOf("acme/app", "v1", "", json.token)).status, 200);
  assert.equal((await registry.ask("/v2/acme/other/manifests/v1", { token: json.token })).status, 403);
  registry.clock.offsetMs = 301_000;
  assert.equal((await registry.ask("/v2/acme/app/manifests/v1", { token: json.token })).status, 401);
});

test("scopes that the caller has no right to are left out", async (t) => {
  const registry = await startRegistry(t);
  await registry.pushManifest("acme/app", "v1", (await registry.image("acme/app", "one")).body);
  const as = async (identity: string): Promise<{ authorization: string }> =>
    basic(await registry.mint(identity, { audiences: [registry.baseUrl] }));
  const every =
    "?scope=repository:acme/app:pull,push,delete&scope=repository:acme/new/deep:push,pull%20registry:other:*";
  assert.deepEqual(await granted(registry, every, await as(registry.owner)), [
    "acme/app:pull,push,delete",
    "acme/new/deep:pull,push",
  ]);
  assert.deepEqual(await granted(registry, every, await as(registry.pusher)), [
    "acme/app:pull,push",
    "acme/new/deep:pull,push",
  ]);
  assert.deepEqual(await granted(registry, every, await as(registry.viewer)), ["acme/app:pull", "acme/new/deep:pull"]);
  assert.deepEqual(await granted(registry, every, await as(registry.stranger)), []);
  assert.deepEqual(await granted(registry, "?scope=repository:nowhere/app:pull,push", await as(registry.owner)), []);
  assert.deepEqual(await granted(registry, "", await as(registry.owner)), []);
  const narrowed = await registry.mint(registry.owner, {
    audiences: [registry.baseUrl],
    capabilities: [Capability.CAP_MANIFEST_LIST, Capability.CAP_REPO_BLOBS_GET],
  });
  assert.deepEqual(await granted(registry, every, basic(narrowed)), ["acme/app:pull", "acme/new/deep:pull"]);
  const elsewhere = await registry.mint(registry.owner, { audiences: [registry.baseUrl], scopes: [registry.open] });
  assert.deepEqual(await granted(registry, every, basic(elsewhere)), []);
});

test("scopes that are malformed or unknown are left out, and the others are granted, by GET and by POST", async (t) => {
  const registry = await startRegistry(t);
  const platform = await registry.mint(registry.owner, { audiences: [registry.baseUrl] });
  const owner = basic(platform);
  const scopes = [
    "repository:Acme/App:pull",
    "repository:acme/app",
    "repository:acme/app:pull,push,pull,unheard_of",
    "repository:library/nginx:1.0:pull repository(plugin):acme/plugin:pull",
    "registry:catalog:*",
    "aws:something:*",
  ];
  const query = new URLSearchParams([["service", registry.host], ...scopes.map((scope) => ["scope", scope])]);
  // Docker, containerd and podman repeat the parameter; the last of these is what OAuth libraries send.
  assert.deepEqual(await granted(registry, `?${query.toString()}`, owner), [
    "acme/app:pull,push",
    "acme/plugin:pull",
    "catalog:*",
  ]);
  assert.deepEqual(await granted(registry, `?scope=${scopes.join("+").replaceAll(" ", "%20")}`, owner), [
    "acme/app:pull,push",
    "acme/plugin:pull",
    "catalog:*",
  ]);
  const posted = await registry.ask(
    "/token",
    form({ grant_type: "password", username: "_token", password: platform, scope: scopes.join(" ") }),
  );
  assert.deepEqual(
    [posted.status, posted.json.scope],
    [200, "repository:acme/app:pull,push repository:acme/plugin:pull registry:catalog:*"],
    posted.text,
  );
  // Nothing of what was asked for: the token is good for nothing, and the registry says why.
  assert.deepEqual(await granted(registry, "?scope=x&scope=repository:Acme:pull"), []);
  const many = Array.from({ length: 101 }, (_, at) => `scope=repository:acme/app${at}:pull`).join("&");
  const answer = await registry.ask(`/token?${many}`);
  assert.deepEqual(
    [answer.status, answer.json.details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field)],
    [400, ["scope"]],
  );
});

test("a registry token is as narrow as its platform token, and expires with it", async (t) => {
  const registry = await startRegistry(t);
  const { body } = await registry.image("acme/app", "one");
  const narrowed = await registry.mint(registry.owner, {
    audiences: [registry.baseUrl],
    ttlMs: 60_000,
    capabilities: [Capability.CAP_MANIFEST_CREATE],
  });
  const { json } = await registry.ask("/token?scope=repository:acme/app:push", { headers: basic(narrowed) });
  assert.ok(json.expires_in <= 60, String(json.expires_in));
  assert.equal((await registry.pushManifest("acme/app", digestOf(body), body, { token: json.token })).status, 201);
  assert.equal(
    (await registry.pushManifest("acme/app", "v1", body, { token: json.token })).status,
    403,
    "tag.create was left out",
  );
});

test("invalid credentials get 401, never an anonymous token", async (t) => {
  const registry = await startRegistry(t);
  const registryToken = await registry.mint(registry.owner, { type: "registry", access: [] });
  const gone = await registry.mint("0".repeat(40), { audiences: [registry.baseUrl] });
  for (const authorization of [
    "Basic",
    "Basic !!!",
    "Digest x",
    `Basic ${Buffer.from("nocolon").toString("base64")}`,
    basic("").authorization,
    basic("x.y.z").authorization,
    basic(registryToken)["authorization"],
    basic(gone).authorization,
    basic(`moorage_rt_${"A".repeat(43)}`).authorization,
    basic(registry.ownerToken, registry.viewer).authorization,
    "Bearer x.y.z",
    `Bearer ${"a".repeat(15_000)}`,
  ]) {
    const answer = await registry.ask("/token?scope=repository:public/app:pull", { headers: { authorization } });
    assert.deepEqual([answer.status, answer.json.errors[0]?.code], [401, "UNAUTHORIZED"], authorization);
    assert.match(answer.headers.get("www-authenticate") ?? "", /^Basic realm=/);
  }
  assert.deepEqual(
    [(await registry.ask("/token", { method: "DELETE" })).status, (await registry.ask("/token", form({}))).status],
    [405, 400],
  );
});

test("the endpoint takes the OAuth 2 form, Bearer, reusable refresh tokens, and pull tokens of static keys", async (t) => {
  const registry = await startRegistry(t);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256" };
  const robot = await registry.addIdentity("viewer", {
    staticKeys: { issuer: "https://issuer.example", subject: "robot", issuerKeys: JSON.stringify({ keys: [jwk] }) },
  });
  const sign = (subject: string): Promise<string> =>
    new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .setIssuer("https://issuer.example")
      .setSubject(subject)
      .setAudience(registry.baseUrl)
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(privateKey);
  const scope = "repository:acme/app:pull,push";
  assert.deepEqual(await granted(registry, `?scope=${scope}`, basic(await sign("robot"), robot)), ["acme/app:pull"]);
  assert.equal(
    (await registry.ask(`/token?scope=${scope}`, { headers: basic(await sign("another"), robot) })).status,
    401,
  );
  assert.equal(
    (await registry.ask(`/token?scope=${scope}`, { headers: basic(await sign("robot"), registry.owner) })).status,
    401,
  );
  const data = systemCall(registry.clock.nowMs());
  const { refreshToken } = await registry.access.exchanger.exchange(
    { bearer: await sign("robot"), identity: robot, audiences: [registry.baseUrl] },
    data,
  );
  for (let use = 0; use < 2; use++)
    assert.deepEqual(await granted(registry, `?scope=${scope}`, basic(refreshToken)), ["acme/app:pull"]);
  const platform = await registry.mint(registry.viewer, { audiences: [registry.baseUrl] });
  assert.deepEqual(await granted(registry, `?scope=${scope}`, { authorization: `Bearer ${platform}` }), [
    "acme/app:pull",
  ]);
  const grants: Record<string, string>[] = [
    { grant_type: "password", username: "x", password: platform },
    { grant_type: "refresh_token", refresh_token: refreshToken },
  ];
  for (const fields of grants) {
    const answer = await registry.ask("/token", form({ ...fields, service: registry.host, client_id: "test", scope }));
    assert.deepEqual([answer.status, answer.json.scope], [200, "repository:acme/app:pull"], answer.text);
  }
  assert.equal((await registry.ask("/token", form({ grant_type: "password", password: "wrong" }))).status, 401);
});

test("an anonymous token pulls what free-tier tags ever pointed to, and nothing else", async (t) => {
  const registry = await startRegistry(t);
  const name = "public/app";
  const [old, now, nightly, base] = [
    await registry.image(name, "old"),
    await registry.image(name, "now"),
    await registry.image(name, "nightly"),
    await registry.image("acme/app", "private"),
  ];
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: [{ mediaType: "application/vnd.oci.image.manifest.v1+json", digest: now.digest, size: now.body.length }],
  });
  const signature = await registry.image(name, "signature", {
    subject: { mediaType: OCI_INDEX, digest: digestOf(index), size: index.length },
  });
  const other = await registry.image(name, "other", {
    subject: { mediaType: OCI_INDEX, digest: nightly.digest, size: nightly.body.length },
  });
  for (const [reference, body] of [
    ["latest", old.body],
    [now.digest, now.body],
    ["latest", index],
    ["nightly", nightly.body],
    [signature.digest, signature.body],
    [other.digest, other.body],
  ] as const) {
    assert.equal((await registry.pushManifest(name, reference, body)).status, 201);
  }
  await registry.pushManifest("acme/app", "latest", base.body);
  assert.deepEqual(
    await granted(
      registry,
      "?scope=repository:public/app:pull,push&scope=repository:acme/app:pull&scope=repository:publicity/app:pull",
    ),
    ["public/app:pull"],
  );
  const { token } = (await registry.ask("/token?scope=repository:public/app:pull")).json;
  const status = async (path: string): Promise<number> => (await registry.ask(`/v2/${name}/${path}`, { token })).status;
  for (const path of [
    "manifests/latest",
    `manifests/${old.digest}`,
    `manifests/${digestOf(index)}`,
    `manifests/${now.digest}`,
    `blobs/${now.layer}`,
    `blobs/${old.config}`,
    "_service/history/latest",
    `referrers/${digestOf(index)}`,
    `manifests/${signature.digest}`,
    `blobs/${signature.layer}`,
    `referrers/${signature.digest}`,
  ])
    assert.equal(await status(path), 200, path);
  for (const path of [
    "manifests/nightly",
    `manifests/${nightly.digest}`,
    `blobs/${nightly.layer}`,
    "_service/history/nightly",
    `referrers/${nightly.digest}`,
    `manifests/${other.digest}`,
    `blobs/${other.layer}`,
    `blobs/${anyDigest()}`,
    "tags/list",
  ])
    assert.equal(await status(path), 403, path);
  assert.equal((await registry.ask("/v2/public/app/manifests/latest")).status, 401);
  const rejected = await registry.ask("/v2/acme/app/manifests/latest", { token });
  assert.equal(rejected.status, 403);
  assert.match(rejected.json.errors[0]?.message ?? "", /: log in first/);
  assert.equal(
    (await registry.pushManifest(name, "latest", old.body, { token })).status,
    401,
    "challenged for a token that covers more",
  );
  assert.equal((await registry.ask("/v2/", { token })).status, 200);
  const missing = (await registry.ask("/token?scope=repository:public/none:pull")).json.token;
  assert.equal((await registry.ask("/v2/public/none/_service/history/latest", { token: missing })).status, 404);
  // An authenticated caller may do no less than an anonymous one.
  const stranger = await registry.mint(registry.stranger);
  assert.equal((await registry.ask(`/v2/${name}/manifests/latest`, { token: stranger })).status, 200);
  assert.equal((await registry.ask(`/v2/${name}/manifests/nightly`, { token: stranger })).status, 403);
  // The content of a deleted free-tier tag stays public.
  await registry.ask(`/v2/${name}/manifests/latest`, { method: "DELETE", token: registry.ownerToken });
  assert.equal(await status(`manifests/${now.digest}`), 200);
  assert.equal(await status("_service/history/latest"), 200);
  assert.equal(await status("manifests/latest"), 404);
});

test("a log-in writes no refresh token, and when the identity was seen soon after it", async (t) => {
  const registry = await startRegistry(t);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256" };
  const issuer = "https://issuer.example";
  const robot = await registry.addIdentity("viewer", {
    staticKeys: { issuer, subject: "robot", issuerKeys: JSON.stringify({ keys: [jwk] }) },
  });
  const password = await new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setIssuer(issuer)
    .setSubject("robot")
    .setAudience(registry.baseUrl)
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(privateKey);
  const platform = await registry.mint(registry.viewer, { audiences: [registry.baseUrl] });
  for (const [identity, headers] of [
    [robot, basic(password, robot)],
    [registry.viewer, basic(platform)],
  ] as const) {
    const { json } = await registry.ask("/token?scope=repository:acme/app:pull", { headers });
    assert.equal(decodeJwt(json.token).sub, identity);
    assert.equal((await registry.ask("/v2/", { token: json.token })).status, 200);
    const seen = async (): Promise<number | null | undefined> =>
      (
        await registry.reader
          .selectFrom("identities")
          .select("last_seen_time")
          .where("uid", "=", identity)
          .executeTakeFirst()
      )?.last_seen_time;
    await eventually(async () => (await seen()) !== null);
  }
  assert.deepEqual(await registry.reader.selectFrom("refresh_tokens").select("hash").execute(), []);
});
