// What an upstream of npm packages must not be able to do: to clients, to what is kept, and to the server.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { eventually } from "../../../server/test/support/eventually.ts";
import { npmPath } from "../../../server/test/support/npm.ts";
import { type NpmRegistry, startNpmRegistry, tarballPath } from "../../../server/test/support/npm-registry.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

const SETTINGS = { MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_MAX_LIBRARY_FILE_BYTES: "1048576" };
const IMPATIENT = { ...SETTINGS, MOORAGE_UPSTREAM_TIMEOUT: "1s", MOORAGE_UPSTREAM_FILE_TIMEOUT: "2s" };
let patient: Platform;
let platform: Platform;
let upstream: NpmRegistry;
let group = { uid: "", path: "" };
let uid = "";
let count = 0;
before(async () => {
  patient = await startPlatform(SETTINGS);
  platform = patient;
});
after(() => patient.close());
beforeEach(async (t) => {
  upstream = await startNpmRegistry(t as Parameters<typeof startNpmRegistry>[0]);
  await use(patient);
});

/** Has a new group with the upstream on this platform. */
async function use(chosen: Platform): Promise<void> {
  platform = chosen;
  const name = `hostile-${(count += 1)}`;
  group = { uid: (await platform.group(platform.organization, { name })).uid, path: `acme/${name}` };
  ({ uid } = await platform.ok("POST", `/libraries/v2/upstreams/${group.uid}`, {
    ecosystem: "ECOSYSTEM_JAVASCRIPT",
    url: upstream.url,
  }));
}

async function get(path: string): Promise<Answer> {
  return await platform.call("GET", path, { token: await platform.token() });
}
const packument = (name: string): Promise<Answer> => get(npmPath(group.path, name));
const tarball = (name: string, version: string): Promise<Answer> =>
  get(`/npm/${group.path}${tarballPath(name, version)}`);

/** Waits until the upstream shows this of its last request: it is written in the background. */
async function showsError(expected: RegExp): Promise<void> {
  const shown = async (): Promise<string> =>
    String((await platform.ok("GET", `/libraries/v2/upstreams/${uid}`))["lastError"]);
  await eventually(async () => expected.test(await shown()), { instead: shown });
}

/** What there is of artifacts of the group, and how many files the server has in all. */
async function kept(): Promise<{ artifacts: number; files: number }> {
  const rows = await platform.reader.selectFrom("artifacts").select("uid").where("parent", "=", group.uid).execute();
  const folder = join(String(platform.settings["MOORAGE_DATA_DIR"]), "blobs");
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return { artifacts: rows.length, files: files.filter((entry) => entry.isFile()).length };
}

test("a tarball that is not what the packument says is not kept, and not given", async () => {
  const before = await kept();
  const other = (): Record<string, unknown> => ({
    integrity: `sha512-${createHash("sha512").update("other").digest("base64")}`,
  });
  upstream.publish("lies", "1.0.0", { dist: other() });
  upstream.publish("lies", "1.1.0", { dist: { integrity: undefined, shasum: "0".repeat(40) } });
  upstream.publish("lies", "1.2.0", { dist: { integrity: undefined, shasum: undefined } });
  for (const version of ["1.0.0", "1.1.0"]) {
    const { status, body } = await tarball("lies", version);
    assert.equal(status, 502);
    assert.match(String(body["error"]), /has another sha(?:512|1) than the upstream says/);
  }
  assert.deepEqual(Object.keys((await packument("lies")).body["versions"] as object), ["1.0.0", "1.1.0"]);
  assert.equal((await tarball("lies", "1.2.0")).status, 404, "what cannot be checked is not offered");
  assert.deepEqual(await kept(), before);
  await showsError(/another sha1/);
});

test("documents that are of another package, none, too large, encoded or broken off are a 502 with the reason", async () => {
  const before = await kept();
  const large = (res: ServerResponse): void => {
    res.writeHead(200);
    const chunk = Buffer.alloc(1 << 20, " ");
    let sent = 0;
    const more = (): void => {
      while (sent < 100 && !res.destroyed) {
        sent += 1;
        if (!res.write(chunk)) return void res.once("drain", more);
      }
      if (!res.destroyed) res.end();
    };
    more();
  };
  const cases: [string, RegExp, (res: ServerResponse) => void][] = [
    ["another", /that of another package/, (res) => void res.end(JSON.stringify({ name: "else", versions: {} }))],
    ["nonsense", /its document of nonsense: is not JSON$/, (res) => void res.end("<html>")],
    ["null", /is no object/, (res) => void res.end("null")],
    ["large", /more than 67108864 bytes/, large],
    [
      "long",
      /more than 67108864 bytes/,
      (res) => void res.writeHead(200, { "content-length": "100000000" }).write("{"),
    ],
    ["packed", /encoded/, (res) => void res.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("{}"))],
    ["forbidden", /does not let us read \(403\); the upstream has no password/, (res) => void res.writeHead(403).end()],
    ["teapot", /answered 418/, (res) => void res.writeHead(418).end()],
    ["around", /redirects more than 5 times/, (res) => void res.writeHead(302, { location: "/around" }).end()],
    ["nowhere", /redirects to what is no URL/, (res) => void res.writeHead(302, { location: "http://[" }).end()],
    ["ftp", /not an https URL/, (res) => void res.writeHead(302, { location: "ftp://127.0.0.1/x" }).end()],
    ["user", /a URL with a user name/, (res) => void res.writeHead(302, { location: "http://a:b@127.0.0.1/x" }).end()],
  ];
  for (const [name, reason, answer] of cases) {
    upstream.answers.set(`/${name}`, (_, res) => answer(res));
    const { status, body } = await packument(name);
    assert.deepEqual([name, status], [name, 502], String(body["error"]));
    assert.match(String(body["error"]), reason, name);
  }
  assert.deepEqual(await kept(), before);
});

test("the reason says what is wrong with the URL or the password of an upstream", async () => {
  const { port } = new URL(upstream.url);
  upstream.answers.set("/private", (_, res) => void res.writeHead(401).end());
  const cases: [number, RegExp, Record<string, string>][] = [
    [503, /the host name of its URL is not found$/, { url: "http://registry.invalid" }],
    [503, /nothing listens at the host and port of its URL$/, { url: "http://127.0.0.1:1" }],
    [503, /does not speak TLS as it should \((?:EPROTO|ERR_SSL_\w+)\)$/, { url: `https://127.0.0.1:${port}` }],
    [502, /\(401\); check the upstream's user name and password$/, { url: upstream.url, password: "secret" }],
  ];
  for (const [status, reason, fields] of cases) {
    await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, fields);
    const answer = await packument("private");
    assert.match(String(answer.body["error"]), reason);
    assert.equal(answer.status, status);
    await showsError(reason);
  }
});

test("an upstream that is silent, slow or endless ends in time, and is left in peace after some failures", async (t) => {
  const impatient = await startPlatform(IMPATIENT);
  t.after(() => impatient.close());
  await use(impatient);
  const drip = (res: ServerResponse): void => {
    res.writeHead(200);
    const timer = setInterval(() => res.write(" "), 50);
    res.on("close", () => clearInterval(timer));
  };
  upstream.publish("file", "1.0.0");
  upstream.publish("endless", "1.0.0");
  upstream.answers.set(tarballPath("file", "1.0.0"), (_, res) => drip(res));
  upstream.answers.set(tarballPath("endless", "1.0.0"), (_, res) => {
    const timer = setInterval(() => res.write(Buffer.alloc(1 << 18)), 1);
    res.on("close", () => clearInterval(timer));
  });
  assert.equal((await tarball("file", "1.0.0")).status, 503);
  assert.match(String((await tarball("endless", "1.0.0")).body["error"]), /more than 1048576 bytes/);
  upstream.answers.set("/silent", () => {});
  upstream.answers.set("/slow", (_, res) => drip(res));
  upstream.answers.set("/broken", (_, res) => void res.writeHead(200).write("{", () => res.destroy()));
  for (const name of ["silent", "slow", "broken"]) {
    const { status, body, headers } = await packument(name);
    assert.deepEqual([name, status], [name, 503], String(body["error"]));
    assert.ok(Number(headers["retry-after"]) > 0, "clients try again");
  }
  const asked = upstream.asked.length;
  const { status, body } = await packument("fresh");
  assert.equal(status, 503);
  assert.match(String(body["error"]), /asked again in some seconds/);
  assert.equal(upstream.asked.length, asked);
  platform.clock.offsetMs += 11_000;
  assert.equal((await packument("fresh")).status, 404);
  assert.equal(upstream.count("/fresh"), 1);
});

test("what is kept is served while the upstream fails, however it fails", async () => {
  upstream.publish("left", "1.0.0");
  assert.equal((await packument("left")).status, 200);
  const failures: ((res: ServerResponse) => void)[] = [
    (res) => void res.writeHead(500).end(),
    (res) => void res.writeHead(429, { "retry-after": "3600" }).end(),
    (res) => void res.end(JSON.stringify({ name: "else" })),
    (res) => void res.destroy(),
  ];
  for (const [at, failure] of failures.entries()) {
    upstream.answers.set("/left", (_, res) => failure(res));
    platform.clock.offsetMs += 3_600_000;
    const before = upstream.count("/left");
    for (let n = 0; n < 3; n += 1) assert.equal((await packument("left")).status, 200, String(at));
    assert.equal(upstream.count("/left"), before + 1, "it is not asked for each request");
  }
  upstream.answers.delete("/left");
  upstream.publish("left", "1.1.0");
  platform.clock.offsetMs += 3_600_000;
  assert.deepEqual(Object.keys((await packument("left")).body["versions"] as object), ["1.0.0", "1.1.0"]);
  await showsError(/^$/);
});

test("names that lead elsewhere, or only look like others, are not asked for", async () => {
  const names = [
    "..",
    "%2e%2e",
    "..%2f..%2fadmin",
    "a%2fb",
    "a%00b",
    "%D0%B0cme",
    "left%3fx=1",
    "left%23x",
    "@a%2f..",
    ".npmrc",
  ];
  for (const name of names) {
    const { status } = await get(`/npm/${group.path}/${name}`);
    assert.ok(status === 404 || status === 400 || status === 403, `${name}: ${status}`);
  }
  for (const path of ["/left/-/..%2f..%2fsecret.tgz", "/left/-/left-1.0.0.tgz%3fx", "/left/-/right-1.0.0.tgz"])
    assert.equal((await get(`/npm/${group.path}${path}`)).status, 404, path);
  const paths = upstream.asked.map(({ path }) => path);
  assert.deepEqual(new Set(paths), new Set(["/left"]), "only the package of the tarballs was asked for");
});

test("credentials are sealed, not shown, and sent to the origin of the upstream alone", async (t) => {
  const elsewhere = await startNpmRegistry(t);
  const bytes = upstream.publish("left", "1.0.0");
  elsewhere.files.set("/cdn/left.tgz", bytes);
  upstream.answers.set(tarballPath("left", "1.0.0"), (_, res) =>
    res.writeHead(302, { location: `${elsewhere.url}/cdn/left.tgz` }).end(),
  );
  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { username: "robot", password: "hunter2" });
  assert.equal((await packument("left")).status, 200);
  assert.equal((await tarball("left", "1.0.0")).status, 200);
  const basic = `Basic ${Buffer.from("robot:hunter2").toString("base64")}`;
  assert.deepEqual(new Set(upstream.asked.map(({ headers }) => headers.authorization)), new Set([basic]));
  assert.deepEqual(
    elsewhere.asked.map(({ headers }) => headers.authorization),
    [undefined],
  );
  const row = await platform.reader
    .selectFrom("upstreams")
    .selectAll()
    .where("uid", "=", uid)
    .executeTakeFirstOrThrow();
  assert.ok(!JSON.stringify(row).includes("hunter2"));
  assert.ok(!JSON.stringify(await platform.ok("GET", `/libraries/v2/upstreams/${uid}`)).includes("hunter2"));

  const moved = await platform.call("PATCH", `/libraries/v2/upstreams/${uid}`, {
    token: await platform.token(),
    body: { url: elsewhere.url },
  });
  assert.equal(moved.status, 400, "the password is needed anew for another registry");
  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { url: elsewhere.url, username: "" });
  assert.equal((await packument("other")).status, 404);
  assert.equal(elsewhere.asked.at(-1)?.headers.authorization, undefined);
  await platform.ok("PATCH", `/libraries/v2/upstreams/${uid}`, { password: "token" });
  assert.equal((await packument("another")).status, 404);
  assert.equal(elsewhere.asked.at(-1)?.headers.authorization, "Bearer token");
});
