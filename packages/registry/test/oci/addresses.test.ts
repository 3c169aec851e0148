import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { test, type TestContext } from "node:test";
import { loadConfig } from "../../../server/src/index.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { publishDocument } from "../../../server/test/support/npm.ts";
import { sendRaw } from "../../../server/test/support/raw-http.ts";

// Under which names clients reach the registry, and which of them are in the answers that they get. crane and oras take
// no token endpoint on a loopback or private host that is not the registry's own host and port.

async function start(t: TestContext, env: Record<string, string> = {}) {
  const installation = await startInstallation(t, env);
  const { config, registry, platform } = installation;
  const { port } = config;
  const get = (path: string, headers: readonly string[]) => sendRaw(port, [`GET ${path} HTTP/1.1`, ...headers]);
  const challengeOf = async (...headers: string[]): Promise<string> =>
    (await get("/v2/", headers)).headers["www-authenticate"] ?? "";
  const realmOf = async (...headers: string[]): Promise<string> =>
    /^Bearer realm="([^"]*)\/token",/.exec(await challengeOf(...headers))?.[1] ?? "";
  return { ...installation, port, get, challengeOf, realmOf, registry, platform };
}

test("without a URL the token endpoint is at the name that the client called, and its tokens are good at every name", async (t) => {
  const { port, get, challengeOf, realmOf, config, pushImage, registry, lines } = await start(t);
  const hosts = [
    `localhost:${port}`,
    `[::1]:${port}`,
    `127.0.0.1:${port}`,
    `LocalHost:${port}`,
    "registry.lan:5000",
    "192.168.1.20:5000",
    "[fe80::1]:5000",
    "moorage.registry.svc.cluster.local",
    "moorage.",
    "my_registry:5000",
    "xn--bcher-kva.example",
  ];
  for (const host of hosts) assert.equal(await realmOf(`host: ${host}`), `http://${host}`, host);
  const challenge = await challengeOf("host: localhost:5000");
  assert.match(challenge, new RegExp(`service="${config.registryAudience}"`), "the audience is the installation's");
  const anonymous = await get("/token?scope=repository:public/app:pull", ["host: localhost:5000"]);
  const { token } = JSON.parse(anonymous.body) as { token: string };
  for (const host of ["registry.lan:5000", `[::1]:${port}`]) {
    const answer = await get("/v2/", [`host: ${host}`, `authorization: Bearer ${token}`]);
    assert.equal(answer.status, 200, host);
  }
  const rejected = await get("/token", ["host: registry.lan:5000", "authorization: Basic eDp5"]);
  assert.match(rejected.headers["www-authenticate"] ?? "", /^Basic realm="http:\/\/registry\.lan:5000\/token"/);
  // The other addresses are paths, which clients resolve against what they called.
  for (const name of ["acme/one", "acme/two"]) await pushImage(name, "v1", name);
  const headers = ["host: registry.lan:5000", `authorization: Bearer ${registry}`];
  const upload = await sendRaw(port, ["POST /v2/acme/one/blobs/uploads/ HTTP/1.1", ...headers, "content-length: 0"]);
  assert.match(upload.headers["location"] ?? "", /^\/v2\/acme\/one\/blobs\/uploads\/[\w-]+$/);
  const list = await get("/v2/_catalog?n=1", headers);
  assert.match(list.headers["link"] ?? "", /^<\/v2\/_catalog\?/);
  assert.deepEqual(warningsIn(lines), [], "nothing to set on a machine of one's own");
});

test("a Host that is malformed, or that a client sent twice, lands in no answer", async (t) => {
  const { get, port, realmOf, url } = await start(t, { MOORAGE_CONSOLE: "0" });
  const hosts = [
    "user@evil.example",
    "user:secret@evil.example:80",
    "evil.example/path",
    "evil.example?x",
    "evil.example#x",
    "evil.example, other.example",
    "evil.example other.example",
    'evil.example",service="evil',
    "evil.example\\",
    "evil.example:",
    "evil.example:0",
    "evil.example:65536",
    "evil.example:80:80",
    "evil.example:8o",
    "evil..example",
    ".evil.example",
    "-evil.example",
    "evil-.example",
    "*.evil.example",
    "evil%2eexample",
    "<evil>",
    "b\u00fccher.evil.example",
    "[::1",
    "::1",
    "[::1%25evil]",
    "[evil]",
    "[::1]evil",
    "256.1.1.1",
    `${"evil.".repeat(60)}example`,
    `${"e".repeat(64)}.example`,
    `evil${"x".repeat(10_000)}`,
  ];
  const paths = ["/v2/", "/v2/evil/manifests/x", "/token", "/npm/acme/-/whoami", "/"];
  for (const host of hosts)
    for (const path of paths) {
      const { headers, body, status } = await get(path, [`host: ${host}`, "authorization: Basic eDp5"]);
      const shown = JSON.stringify(headers) + body.replaceAll("v2/evil", "");
      assert.ok(!shown.includes(host.slice(0, 40)), `${path} ${host.slice(0, 40)}: ${shown}`);
      if (status === 401) assert.ok((headers["www-authenticate"] ?? "").includes(`realm="${url}`), host);
    }
  const twice = await get("/v2/", ["host: localhost:5000", "host: evil.example"]);
  assert.ok(!twice.text.includes("evil") && !twice.text.includes("localhost:5000"), twice.text);
  const folded = await get("/v2/", ["host: localhost:5000", " evil.example"]);
  assert.ok(!folded.text.includes("evil"), folded.text);
  const split = await get("/v2/", ["host: localhost:5000\rset-cookie: evil=1"]);
  assert.ok(!split.text.includes("evil"), split.text);
  const absolute = await get("http://evil.example/v2/", ["host: localhost:5000"]);
  assert.ok(!/evil/.test(absolute.headers["www-authenticate"] ?? ""), absolute.text);
  assert.equal(
    (await sendRaw(port, ["GET /v2/ HTTP/1.0"])).headers["www-authenticate"]?.includes(`"${url}/token"`),
    true,
  );
  assert.equal(await realmOf("host: "), url);
  const untrusted = await realmOf(
    "host: localhost:5000",
    "x-forwarded-host: evil.example",
    "x-forwarded-proto: https",
    "forwarded: host=evil.example;proto=https",
  );
  assert.equal(untrusted, "http://localhost:5000");
});

test("over HTTP/2 the authority counts, and one Host header with it must be the same", async (t) => {
  const { port, url } = await start(t);
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  t.after(() => session.close());
  const realm = async (headers: Record<string, string>): Promise<string> => {
    const stream = session.request({ ":path": "/v2/", ...headers });
    const [answer] = (await once(stream, "response")) as [Record<string, string>];
    stream.destroy();
    return /realm="([^"]*)\/token"/.exec(answer["www-authenticate"] ?? "")?.[1] ?? "";
  };
  assert.equal(await realm({ ":authority": "localhost:5000" }), "http://localhost:5000");
  assert.equal(await realm({ ":authority": "localhost:5000", host: "localhost:5000" }), "http://localhost:5000");
  assert.equal(await realm({ ":authority": "localhost:5000", host: "evil.example" }), url);
  // Node resets the stream of such a request.
  await assert.rejects(realm({ ":authority": "user@evil.example" }), /NGHTTP2_PROTOCOL_ERROR/);
  assert.equal(await realm({ ":authority": "evil.example:0" }), url);
});

test("what a trusted proxy forwards counts: the last host and scheme, which it has added itself", async (t) => {
  const { realmOf, url } = await start(t, { MOORAGE_TRUSTED_PROXIES: "127.0.0.1" });
  const own = "host: moorage:8080";
  const https = "x-forwarded-proto: https";
  for (const [headers, expected] of [
    [[], "http://moorage:8080"],
    [[https], "https://moorage:8080"],
    [["x-forwarded-host: registry.example", https], "https://registry.example"],
    [["x-forwarded-host: registry.example:8443", "x-forwarded-proto: HTTPS"], "https://registry.example:8443"],
    [
      ["x-forwarded-host: evil.example, registry.example", "x-forwarded-proto: http, https"],
      "https://registry.example",
    ],
    [["x-forwarded-host: evil.example", "x-forwarded-host: registry.example", https], "https://registry.example"],
    [['forwarded: for=192.0.2.1;host="registry.example:8443";proto=https'], "https://registry.example:8443"],
    [
      ["forwarded: host=evil.example;proto=http, For=10.0.0.1; Host=registry.example ;Proto=https"],
      "https://registry.example",
    ],
    [['forwarded: host="a, b;host=evil.example";proto=https, host=registry.example'], "http://registry.example"],
    // A proxy that writes X-Forwarded-* passes this on as its client sent it.
    [["forwarded: host=evil.example", "x-forwarded-for: 192.0.2.1"], "http://moorage:8080"],
    [["forwarded: host=evil.example", https], "https://moorage:8080"],
    [["x-forwarded-host: user@evil.example", https], url],
    [["x-forwarded-host: registry.example, ", https], url],
    [["x-forwarded-host: registry.example", "x-forwarded-proto: javascript"], url],
    [['forwarded: host="evil.example'], url],
    [["forwarded: host=evil.example, =x"], url],
    [[`forwarded: ${"for=192.0.2.1, ".repeat(600)}host=evil.example`], url],
  ] as const)
    assert.equal(await realmOf(own, ...headers), expected, headers.join(" | ").slice(0, 120));
});

test("with a base URL only the hosts of MOORAGE_REGISTRY_HOSTS count, by name and port", async (t) => {
  const { realmOf, get, port, registry, challengeOf, lines } = await start(t, {
    MOORAGE_HOST: "0.0.0.0",
    MOORAGE_BASE_URL: "https://registry.example",
    MOORAGE_REGISTRY_HOSTS: "registry.lan:5000, moorage.registry.svc, https://images.example, [::1], localhost:443",
    MOORAGE_TRUSTED_PROXIES: "127.0.0.1",
  });
  const own = "https://registry.example";
  for (const [host, expected] of [
    ["registry.example", own],
    ["registry.example:443", own],
    ["evil.example", own],
    ["registry.lan:5000", "http://registry.lan:5000"],
    ["Registry.LAN.:5000", "http://Registry.LAN.:5000"],
    ["registry.lan", own],
    ["registry.lan:5001", own],
    ["moorage.registry.svc", "http://moorage.registry.svc"],
    ["moorage.registry.svc:80", "http://moorage.registry.svc:80"],
    [`moorage.registry.svc:${port}`, `http://moorage.registry.svc:${port}`],
    ["moorage.registry.svc:9", own],
    ["x.moorage.registry.svc", own],
    ["images.example", "https://images.example"],
    ["images.example:80", own],
    [`[::1]:${port}`, `http://[::1]:${port}`],
    ["localhost", own],
    ["localhost:443", "http://localhost:443"],
  ] as const)
    assert.equal(await realmOf(`host: ${host}`), expected, host);
  const forwarded = ["host: moorage:8080", "x-forwarded-host: registry.lan:5000", "x-forwarded-proto: https"];
  assert.equal(await realmOf(...forwarded), "https://registry.lan:5000");
  assert.equal(await realmOf("host: localhost", "x-forwarded-proto: https"), "https://localhost");
  assert.match(await challengeOf("host: registry.lan:5000"), /,service="registry\.example"/);
  const answer = await get("/v2/", ["host: registry.lan:5000", `authorization: Bearer ${registry}`]);
  assert.equal(answer.status, 200);
  assert.deepEqual(warningsIn(lines), []);
});

test("npm's tarballs are at the name that the client called, and no answer is that of another name", async (t) => {
  const { get, platform, ask, bootstrap, port, api } = await start(t);
  await api("POST", `/iam/v2/groups/${bootstrap.organization.uid}`, { name: "team" });
  const published = await ask("PUT", "/npm/acme/team/hello", {
    basic: `x:${platform}`,
    json: publishDocument("hello", "1.0.0"),
  });
  assert.equal(published.status, 201, published.text);
  const authorization = `authorization: Basic ${Buffer.from(`x:${platform}`).toString("base64")}`;
  const hosts = [`127.0.0.1:${port}`, "registry.lan:5000", `localhost:${port}`, "registry.lan:5000"];
  for (const host of hosts) {
    const { body } = await get("/npm/acme/team/hello", [`host: ${host}`, authorization]);
    const start = body.indexOf(`"tarball":"http://${host}/npm/acme/team/hello/-/hello-1.0.0.tgz"`);
    assert.ok(start > 0, `${host}: ${body}`);
  }
  const challenged = await get("/npm/acme/team/hello", ["host: registry.lan:5000"]);
  assert.match(challenged.headers["www-authenticate"] ?? "", /^Basic realm="http:\/\/registry\.lan:5000"/);
});

test("the issuer stays what it is, whatever a client calls; links for people follow", async (t) => {
  const { get, url, platform, port } = await start(t, { MOORAGE_CONSOLE: "0" });
  const headers = ["host: registry.lan:5000", "accept: text/html"];
  for (const path of ["/.well-known/openid-configuration", "/.well-known/oauth-protected-resource/mcp"]) {
    const { body, status } = await get(path, headers);
    assert.equal(status, 200, path);
    assert.ok(body.includes(`"${url}`) && !body.includes("registry.lan"), body);
  }
  const home = await get("/", headers);
  assert.match(home.body, /moorage login --url http:\/\/registry\.lan:5000\n/);
  assert.match(home.body, /docker login registry\.lan:5000 /);
  const post = (path: string, more: readonly string[]) =>
    sendRaw(port, [`POST ${path} HTTP/1.1`, "host: registry.lan:5000", "content-length: 0", ...more]);
  const link = await post("/session/links", [`authorization: Bearer ${platform}`]);
  assert.match(link.body, /"url":"http:\/\/registry\.lan:5000\/sign-in\/link#/);
  const begin = (origin: string) =>
    post("/session", [`authorization: Bearer ${platform}`, `origin: ${origin}`]).then(({ status }) => status);
  assert.equal(await begin("http://registry.lan:5000"), 200, "a browser sends no Sec-Fetch-Site over http to a LAN");
  for (const origin of ["http://evil.example", "http://registry.lan:5001", "https://registry.lan:5000", "null", url])
    assert.equal(await begin(origin), 403, origin);
});

test("MOORAGE_REGISTRY_HOSTS is checked at the start", () => {
  for (const value of [
    "registry.lan/path",
    "user@registry.lan",
    "ftp://registry.lan",
    "https://registry.lan/",
    "registry lan",
    "registry.lan:99999",
    "::1",
    "b\u00fccher.example",
    "*.example",
    Array.from({ length: 101 }, (_, at) => `h${at}`).join(","),
  ])
    assert.throws(() => loadConfig({ MOORAGE_REGISTRY_HOSTS: value }), { message: /^MOORAGE_REGISTRY_HOSTS: / }, value);
  assert.deepEqual(loadConfig({ MOORAGE_REGISTRY_HOSTS: "" }).registryHosts, []);
});

test("one warning at the start says what to set where other machines reach the server and no base URL is set", async (t) => {
  const { lines, realmOf } = await start(t, {
    MOORAGE_HOST: "0.0.0.0",
    MOORAGE_REGISTRY_URL: "https://images.example",
  });
  const [warning, ...more] = warningsIn(lines);
  assert.match(warning ?? "", /^MOORAGE_BASE_URL is not set, and the server listens on .*: tokens are issued by http:/);
  assert.deepEqual(more, []);
  assert.equal(await realmOf("host: localhost:5000"), "https://images.example", "a URL of the registry alone is kept");
});

function warningsIn(lines: readonly string[]): string[] {
  return lines
    .map((line) => JSON.parse(line) as { level: number; msg: string })
    .filter(({ level, msg }) => level === 40 && msg.includes("MOORAGE_BASE_URL"))
    .map(({ msg }) => msg);
}
