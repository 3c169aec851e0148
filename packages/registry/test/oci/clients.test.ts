import assert from "node:assert/strict";
import { test } from "node:test";
import { startRegistry } from "../../../server/test/support/registry-server.ts";

// What clients do that are simpler, or older, than docker: passwords at every request, platform tokens, empty
// credentials; and which error they are answered with.

const basic = (user: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

test("empty credentials are anonymous, at the token endpoint and at the registry", async (t) => {
  const { ask, image, pushManifest } = await startRegistry(t);
  const { body, digest } = await image("public/base", "one");
  assert.equal((await pushManifest("public/base", "latest", body)).status, 201);
  const headers = basic("", "");
  const { status, json } = await ask("/token?scope=repository:public/base:pull", { headers });
  assert.equal(status, 200);
  assert.equal((await ask(`/v2/public/base/manifests/${digest}`, { token: json.token })).status, 200);
  const challenged = await ask("/v2/public/base/manifests/latest", { headers });
  assert.equal(challenged.status, 401);
  assert.match(challenged.headers.get("www-authenticate") ?? "", /^Bearer .*scope="repository:public\/base:pull"$/);
});

test("a user name and password are accepted at every path of the registry, and rejected with a challenge", async (t) => {
  const { ask, image, mint, owner, viewer, baseUrl, pushManifest, clock } = await startRegistry(t);
  const { body } = await image("acme/app", "one");
  assert.equal((await pushManifest("acme/app", "v1", body)).status, 201);
  const password = await mint(owner, { audiences: [baseUrl] });
  assert.equal((await ask("/v2/", { headers: basic("_", password) })).status, 200);
  const pull = (headers: Record<string, string>) => ask("/v2/acme/app/manifests/v1", { headers });
  for (let n = 0; n < 2; n += 1) assert.equal((await pull(basic("_", password))).text, body);
  assert.equal((await pull(basic("_", await mint(viewer, { audiences: [baseUrl] })))).status, 200);
  const put = async (secret: string, headers: Record<string, string> = {}) =>
    ask("/v2/acme/app/manifests/v2", {
      method: "PUT",
      headers: { ...basic("_", secret), "content-type": "application/vnd.oci.image.manifest.v1+json", ...headers },
      body,
    });
  assert.equal((await put(password)).status, 201);
  assert.equal((await put(await mint(viewer, { audiences: [baseUrl] }))).status, 403);
  for (const headers of [basic("someone", "secret"), basic("", "x"), { authorization: "Basic §" }]) {
    const answer = await pull(headers).catch(() => undefined);
    if (answer === undefined) continue;
    assert.deepEqual([answer.status, answer.json.errors[0]?.code], [401, "UNAUTHORIZED"]);
    assert.match(
      answer.headers.get("www-authenticate") ?? "",
      /^Bearer .*error="invalid_token",error_description="[^"]+"$/,
    );
  }
  clock.offsetMs += 3_600_000;
  const ended = await pull(basic("_", password));
  assert.equal(ended.status, 401, "a password that has ended is not answered from a cache");
  assert.match(
    ended.json.errors[0]?.message ?? "",
    /^Unauthenticated: .*: this token expired at \S+Z: make a new one$/,
  );
  const forged = `${password.slice(0, -8)}AAAAAAAA`;
  assert.match(
    (await pull(basic("_", forged))).json.errors[0]?.message ?? "",
    /were not accepted$/,
    "nobody signed it",
  );
});

test("a platform token as Bearer is challenged, so that the client gets a registry token", async (t) => {
  const { ask, mint, owner, baseUrl, image, pushManifest } = await startRegistry(t);
  const { body } = await image("acme/app", "one");
  await pushManifest("acme/app", "v1", body);
  const token = await mint(owner, { audiences: [baseUrl] });
  for (const path of ["/v2/", "/v2/acme/app/manifests/v1", "/v2/acme/app/tags/list"]) {
    const { status, headers } = await ask(path, { token });
    assert.equal(status, 401, path);
    assert.match(
      headers.get("www-authenticate") ?? "",
      /^Bearer realm=.*error="invalid_token",error_description="[^"]+"$/,
    );
  }
  for (const path of ["_service/history/v1", "_oci/tag-history/v1"])
    assert.equal((await ask(`/v2/acme/app/${path}`, { token })).status, 403, "the tag history promises 403");
});

test("a token for another repository is answered with which one it covers", async (t) => {
  const { ask } = await startRegistry(t);
  const { json } = await ask("/token?scope=repository:public/one:pull");
  const message = async (path: string, token: string) => {
    const answer = await ask(path, { token });
    assert.equal(answer.status, 403);
    return answer.json.errors[0]?.message;
  };
  for (const path of ["manifests/latest", "_service/history/latest"])
    assert.equal(
      await message(`/v2/public/two/${path}`, json.token),
      "Permission denied: the token covers another repository: public/one; ask for one for public/two",
    );
  const empty = await ask("/token");
  assert.match((await message("/v2/public/two/manifests/latest", empty.json.token)) ?? "", /log in first/);
});

test("parameters and ranges that are wrong have codes of their own", async (t) => {
  const { ask, image, ownerToken: token, pushManifest } = await startRegistry(t);
  const { body, layer } = await image("acme/app", "one");
  await pushManifest("acme/app", "v1", body);
  const code = async (path: string, headers: Record<string, string> = {}) => {
    const { status, json } = await ask(`/v2/acme/app/${path}`, { token, headers });
    return [status, json.errors[0]?.code];
  };
  assert.deepEqual(await code("tags/list?n=abc"), [400, "PAGINATION_NUMBER_INVALID"]);
  assert.deepEqual(await code("_oci/tag-history/v1?n=abc"), [400, "PAGINATION_NUMBER_INVALID"]);
  for (const query of ["start=x", "end=x", "start=2026-02-02&end=2026-01-01", "other=1"])
    assert.deepEqual(await code(`_service/history/v1?${query}`), [400, "RANGE_INVALID"], query);
  assert.deepEqual(await code("_oci/tag-history/v1?since=x"), [400, "RANGE_INVALID"]);
  assert.deepEqual(await code(`blobs/${layer}`, { range: "bytes=1000-" }), [416, "RANGE_INVALID"]);
});
