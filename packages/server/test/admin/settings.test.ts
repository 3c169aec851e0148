import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, loadConfig, startServer } from "../../src/index.ts";
import { selfSigned } from "../support/certificate.ts";
import { startInstallation, temporaryFolder } from "../support/installation.ts";

// Every setting has its documented effect. Settings that are not here are tested beside the code that they configure.

test("the error for an invalid setting names it", async (t) => {
  const dataDir = temporaryFolder(t);
  const [file, own, foreign] = [join(dataDir, "file"), selfSigned(), selfSigned()];
  writeFileSync(file, own.cert);
  writeFileSync(join(dataDir, "foreign.key"), foreign.key);
  const cases: Record<string, Record<string, string>> = {
    MOORAGE_HOST: { MOORAGE_HOST: "203.0.113.7" },
    MOORAGE_PORT: { MOORAGE_PORT: "65536" },
    MOORAGE_DATA_DIR: { MOORAGE_DATA_DIR: file },
    MOORAGE_BASE_URL: { MOORAGE_BASE_URL: "ftp://x" },
    MOORAGE_REGISTRY_URL: { MOORAGE_REGISTRY_URL: "http://x/path" },
    MOORAGE_ORGANIZATION: { MOORAGE_ORGANIZATION: "A" },
    MOORAGE_PUBLIC_ORGANIZATION: { MOORAGE_PUBLIC_ORGANIZATION: "acme" },
    MOORAGE_FREE_TIER_TAGS: { MOORAGE_FREE_TIER_TAGS: "a b" },
    MOORAGE_HISTORY_SEGMENTS: { MOORAGE_HISTORY_SEGMENTS: "a/b" },
    MOORAGE_GRPC_PACKAGE_ALIASES: { MOORAGE_GRPC_PACKAGE_ALIASES: "a-b" },
    MOORAGE_ERROR_DOMAIN: { MOORAGE_ERROR_DOMAIN: "no domain" },
    MOORAGE_ADMINS: { MOORAGE_ADMINS: "me" },
    MOORAGE_TLS_CERT: { MOORAGE_TLS_CERT: join(dataDir, "foreign.key"), MOORAGE_TLS_KEY: join(dataDir, "foreign.key") },
    MOORAGE_TLS_KEY: { MOORAGE_TLS_CERT: file, MOORAGE_TLS_KEY: join(dataDir, "foreign.key") },
    MOORAGE_ACCESS_TOKEN_TTL: { MOORAGE_ACCESS_TOKEN_TTL: "59s" },
    MOORAGE_REGISTRY_TOKEN_TTL: { MOORAGE_REGISTRY_TOKEN_TTL: "59s" },
    MOORAGE_ALLOW_PRIVATE_NETWORK: { MOORAGE_ALLOW_PRIVATE_NETWORK: "maybe" },
    MOORAGE_TRUSTED_PROXIES: { MOORAGE_TRUSTED_PROXIES: "10.0.0.0/33" },
  };
  for (const [name, env] of Object.entries(cases)) {
    const starting = async (): Promise<unknown> =>
      startServer(loadConfig({ MOORAGE_PORT: "0", MOORAGE_DATA_DIR: dataDir, MOORAGE_LOG_LEVEL: "silent", ...env }));
    await assert.rejects(
      starting,
      (error) => error instanceof ConfigError && error.message.startsWith(`${name}: `) && !error.message.includes("\n"),
      name,
    );
  }
});

test("the first start creates two organizations, the owner, and a bootstrap.json that only its file owner can read", async (t) => {
  const env = { MOORAGE_ORGANIZATION: "harbor", MOORAGE_PUBLIC_ORGANIZATION: "open", MOORAGE_FREE_TIER_TAGS: "free" };
  const first = await startInstallation(t, env);
  const file = join(first.dataDir, "bootstrap.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const folder of ["blobs", "uploads"])
    assert.equal(statSync(join(first.dataDir, folder)).mode & 0o077, 0, folder);
  const written = JSON.parse(readFileSync(file, "utf8")) as typeof first.bootstrap;
  assert.deepEqual(Object.keys(written).toSorted(), [
    "baseUrl",
    "identity",
    "organization",
    "publicOrganization",
    "registryUrl",
  ]);
  assert.equal(written.baseUrl, first.url);
  assert.equal(written.registryUrl, first.url);
  const { groups } = await first.api("GET", "/iam/v2/groups");
  assert.deepEqual(
    groups.map(({ name }) => name),
    ["harbor", "open"],
  );
  assert.deepEqual(
    [written.organization, written.publicOrganization],
    groups.map(({ uid, name }) => ({ uid, name })),
  );
  for (const tag of ["free", "latest"]) await first.pushImage("open/app", tag, tag);
  const { token } = await first.grantsOf(["repository:open/app:pull"]);
  assert.equal((await first.ask("GET", "/v2/open/app/manifests/free", { token })).status, 200);
  assert.equal((await first.ask("GET", "/v2/open/app/manifests/latest", { token })).status, 403);
  await first.api("PATCH", `/iam/v2/groups/${written.organization.uid}`, { name: "port" });
  await first.close();
  // The second start creates nothing; bootstrap.json has the current names.
  const { url, bootstrap } = await startInstallation(t, env, first.dataDir);
  assert.deepEqual(bootstrap, {
    ...written,
    baseUrl: url,
    registryUrl: url,
    organization: { ...written.organization, name: "port" },
  });
});

test("administrators named by the settings create organizations and own them; others cannot", async (t) => {
  const before = await startInstallation(t);
  const { identity } = await before.addIdentity(before.bootstrap.organization.uid, "admin", "viewer");
  const create = { json: { name: "harbor" } };
  assert.equal(
    (await before.ask("POST", "/iam/v2/groups", { token: await before.tokenFor("platform", identity), ...create }))
      .status,
    403,
  );
  await before.close();
  const after = await startInstallation(t, { MOORAGE_ADMINS: identity }, before.dataDir);
  const token = await after.tokenFor("platform", identity);
  const {
    json: { uid },
  } = await after.ask("POST", "/iam/v2/groups", { token, ...create });
  assert.equal(
    (await after.ask("PATCH", `/iam/v2/groups/${uid}`, { token, json: { description: "mine" } })).status,
    200,
  );
  assert.equal(
    (await after.pushImage("harbor/app", "v1", "one", { token: await after.tokenFor("registry", identity) })).answer
      .status,
    201,
  );
  // In its own organization it has the rights of its binding, and the bootstrap identity does not own the new
  // organization.
  assert.equal(
    (
      await after.ask("PATCH", `/iam/v2/groups/${after.bootstrap.organization.uid}`, {
        token,
        json: { description: "mine" },
      })
    ).status,
    403,
  );
  assert.equal((await after.ask("GET", `/iam/v2/groups/${uid}`, { token: after.platform })).status, 404);
});

test("package aliases work for every service, the token service too, and several path segments for the history", async (t) => {
  const env = {
    MOORAGE_GRPC_PACKAGE_ALIASES: "acme.platform,other",
    MOORAGE_HISTORY_SEGMENTS: "_service,_vendor",
    MOORAGE_ERROR_DOMAIN: "registry.example",
  };
  const { ask, platform, registry, pushImage } = await startInstallation(t, env);
  for (const prefix of ["moorage", "acme.platform", "other"]) {
    const headers = { "connect-protocol-version": "1" };
    assert.equal(
      (await ask("POST", `/${prefix}.iam.v2.GroupsService/ListGroups`, { token: platform, json: {}, headers })).json
        .groups.length,
      2,
      prefix,
    );
    const { json } = await ask("POST", `/${prefix}.oidc.SecurityTokenService/Exchange`, {
      token: platform,
      json: { cap: ["CAP_IAM_GROUPS_LIST"] },
      headers,
    });
    assert.equal((await ask("GET", "/iam/v2/groups", { token: json.token })).status, 200, prefix);
  }
  await pushImage("acme/app", "v1", "one");
  for (const [segment, status] of [
    ["_service", 200],
    ["_vendor", 200],
    ["_other", 404],
  ] as const) {
    assert.equal((await ask("GET", `/v2/acme/app/${segment}/history/v1`, { token: registry })).status, status, segment);
  }
  const { json } = await ask("GET", "/iam/v2/groups/none", { token: platform });
  assert.equal(json.details.find(({ "@type": type }) => type.endsWith("ErrorInfo"))?.domain, "iam.registry.example");
});

test("with other URLs the issuer is the base URL, challenges name the registry's URL, and its host is the audience", async (t) => {
  const { config, url, tokenFor } = await startInstallation(t, {
    MOORAGE_BASE_URL: "https://api.example/",
    MOORAGE_REGISTRY_URL: "https://registry.example:8443",
  });
  assert.equal(url, "https://api.example");
  assert.equal(config.registryAudience, "registry.example:8443");
  const claims = JSON.parse(Buffer.from((await tokenFor("registry")).split(".")[1] ?? "", "base64url").toString()) as {
    aud: string;
    iss: string;
  };
  assert.deepEqual([claims.iss, claims.aud], ["https://api.example", "registry.example:8443"]);
});

test("with a certificate the port serves TLS, and the base URL begins with https", async (t) => {
  const dir = temporaryFolder(t);
  const { cert, key } = selfSigned();
  writeFileSync(join(dir, "cert.pem"), cert);
  writeFileSync(join(dir, "key.pem"), key);
  const { url } = await startInstallation(t, {
    MOORAGE_TLS_CERT: join(dir, "cert.pem"),
    MOORAGE_TLS_KEY: join(dir, "key.pem"),
  });
  assert.match(url, /^https:/);
  const asked = secureRequest(`${url}/v2/`, { ca: cert, agent: false });
  asked.end();
  const [response] = (await once(asked, "response")) as [
    { statusCode: number; headers: Record<string, string>; resume(): void },
  ];
  response.resume();
  assert.equal(response.statusCode, 401);
  assert.match(response.headers["www-authenticate"] ?? "", new RegExp(`realm="${url}/token"`));
});

test("a forwarded address counts only from a trusted proxy, and each request has its id in the log", async (t) => {
  for (const [proxies, remoteAddress] of [
    ["127.0.0.0/8,10.0.0.1", "192.0.2.9"],
    ["10.0.0.1", "127.0.0.1"],
  ] as const) {
    const { ask, lines, close } = await startInstallation(t, { MOORAGE_TRUSTED_PROXIES: proxies });
    const { headers } = await ask("GET", "/healthz", {
      headers: { "x-forwarded-for": "203.0.113.1, 192.0.2.9, 10.0.0.1" },
    });
    await close();
    const logged = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(({ requestId }) => requestId === headers.get("x-request-id"));
    assert.equal(logged?.["remoteAddress"], remoteAddress);
    assert.equal(logged?.["status"], 200);
    assert.equal(
      lines.some((line) => line.includes("listening")),
      true,
    );
  }
});

test("a closing server completes the request under way, and answers no new one", async (t) => {
  const { url, close, ask, registry } = await startInstallation(t);
  for (const path of ["/healthz", "/readyz"]) assert.equal((await ask("GET", path)).status, 200);
  const started = await ask("POST", "/v2/acme/app/blobs/uploads/", { token: registry });
  const upload = request(url + (started.headers.get("location") ?? ""), {
    method: "PATCH",
    headers: { authorization: `Bearer ${registry}`, "content-type": "application/octet-stream" },
    agent: false,
  });
  upload.write("first half, ");
  await new Promise((resolve) =>
    upload.socket?.connecting === false
      ? resolve(undefined)
      : upload.once("socket", (socket) => socket.once("connect", resolve)),
  );
  await ask("GET", "/healthz");
  const closing = close();
  await assert.rejects(fetch(`${url}/healthz`));
  const answered = once(upload, "response") as Promise<
    [{ statusCode: number; headers: Record<string, string>; resume(): void }]
  >;
  upload.end("second half");
  const [response] = await answered;
  response.resume();
  assert.equal(response.statusCode, 202);
  assert.equal(response.headers["range"], "0-22");
  await closing;
});

test("the error for a body over the limit names the limit", async (t) => {
  const { ask, platform, registry, bootstrap } = await startInstallation(t, { MOORAGE_MAX_JSON_BYTES: "1000" });
  const json = await ask("PATCH", `/iam/v2/groups/${bootstrap.organization.uid}`, {
    token: platform,
    json: { description: "x".repeat(1000) },
  });
  assert.equal(json.status, 400);
  assert.match(json.json.message, /1000 bytes/);
  const manifest = await ask("PUT", "/v2/acme/app/manifests/v1", { token: registry, bytes: "x".repeat((4 << 20) + 1) });
  assert.equal(manifest.status, 413);
  assert.match(manifest.json.message, /4194304 bytes/);
});
