// A fourth ecosystem: what is in this folder, handed to the server when it starts. Nothing else knows of it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { compose, type Composition } from "../../../../server/src/boot/compose.ts";
import { loadConfig, readBootstrap } from "../../../../server/src/index.ts";
import { ecosystemsWith } from "../../../src/libraries/index.ts";
import { databaseEnv, dropDatabase } from "../../../../server/test/support/database.ts";
import { UNLIMITED } from "../../../../server/test/support/no-rate-limits.ts";

const TOY = "ECOSYSTEM_TOY";
const dataDir = mkdtempSync(join(tmpdir(), "moorage-toy-"));
/** What answers of the API are looked at for. */
interface Answer {
  uid: string;
  latestVersion: string;
  artifacts: { uid: string; name: string }[];
  artifactVersions: { uid: string; version: string }[];
  counts: { ecosystem: string; totalCount: string }[];
}

let server: Composition;
let [url, token, organization] = ["", "", ""];
let group = { uid: "", path: "" };
let count = 0;

before(async () => {
  const config = loadConfig({
    MOORAGE_PORT: "0",
    ...UNLIMITED,
    MOORAGE_DATA_DIR: dataDir,
    MOORAGE_LOG_LEVEL: "silent",
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    ...(await databaseEnv(dataDir)),
  });
  server = await compose(config, { ecosystems: [new URL("./ecosystem.ts", import.meta.url).href] });
  const bootstrap = readBootstrap(dataDir);
  url = server.config.baseUrl;
  organization = bootstrap.organization.uid;
  const { identity, baseUrl } = bootstrap;
  const asked = { identity: identity.uid, audiences: [baseUrl], ttlMs: 3_600_000, nowMs: Date.now() };
  ({ token } = await server.access.tokens.mint({ type: "access", ...asked }));
});
after(async () => {
  await server[Symbol.asyncDispose]();
  await dropDatabase(dataDir);
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
});

beforeEach(async () => {
  const name = `shelf-${(count += 1)}`;
  const { uid } = await api("POST", `/iam/v2/groups/${organization}`, { name });
  group = { uid, path: `/toy/acme/${name}/-` };
});

async function ask(method: string, path: string, body?: string): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
  return { status: answer.status, text: await answer.text() };
}

async function api(method: string, path: string, body?: object): Promise<Answer> {
  const { status, text } = await ask(method, path, body && JSON.stringify(body));
  assert.equal(status, 200, text);
  return JSON.parse(text || "{}") as Answer;
}

const get = (path: string): Promise<{ status: number; text: string }> => ask("GET", group.path + path);
const put = (path: string, text: string): Promise<{ status: number; text: string }> =>
  ask("PUT", group.path + path, text);

test("a toy is published, listed, downloaded, and in the catalog of the API", async () => {
  for (const version of ["2", "10"]) assert.equal((await put(`/bear/${version}.toy`, "MIT\nbrown")).status, 201);
  assert.deepEqual(await get("/bear/"), { status: 200, text: "2\n10\n" });
  assert.deepEqual(await get("/bear/10.toy"), { status: 200, text: "MIT\nbrown" });
  assert.deepEqual(await put("/bear/10.toy", "MIT\nblack"), {
    status: 409,
    text: "toy: Already exists: toy bear 10",
  });
  const { artifacts } = await api("GET", `/libraries/v2/artifacts?ecosystems=${TOY}`);
  assert.partialDeepStrictEqual(artifacts, [{ name: "bear", ecosystem: TOY, latestVersion: "10", versionCount: 2 }]);
  const { counts } = await api("GET", `/libraries/v2/artifacts/count?ecosystems=${TOY}`);
  assert.deepEqual(counts, [{ ecosystem: TOY, totalCount: "1" }]);
  const { artifactVersions } = await api("GET", `/libraries/v2/artifacts/${artifacts[0]?.uid}/versions`);
  assert.partialDeepStrictEqual(artifactVersions, [{ version: "10" }, { version: "2" }]);
  assert.equal((await get("/rabbit/")).text, "toy: Not found: toy rabbit");
  assert.equal((await fetch(`${url}${group.path}/bear/`)).status, 401);
});

test("a version is removed by the API: what the toy is then, its ecosystem says", async () => {
  for (const version of ["1", "2"]) await put(`/duck/${version}.toy`, "MIT\n");
  const listed = await api("GET", `/libraries/v2/artifacts?ecosystems=${TOY}&query=duck`);
  const uid = listed.artifacts[0]?.uid ?? "";
  const { artifactVersions } = await api("GET", `/libraries/v2/artifacts/${uid}/versions`);
  await api("DELETE", `/libraries/v2/artifactVersions/${artifactVersions[0]?.uid}`);
  assert.equal((await api("GET", `/libraries/v2/artifacts/${uid}`)).latestVersion, "1");
  assert.equal((await get("/duck/")).text, "1\n");
  assert.equal((await put("/duck/2.toy", "MIT\n")).status, 409);
});

test("a toy comes from an upstream once, a policy blocks it by the same gate, and reserved names are asked of nobody", async (t) => {
  const content = "GPL-3.0-only\nwooden";
  const sha256 = createHash("sha256").update(content).digest("hex");
  // More than is read in the thread that serves: its reader runs in a child process.
  const many = Array.from({ length: 3_000 }, (_, at) => `${at} ${sha256} MIT\n`).join("");
  const asked: string[] = [];
  const upstream = createServer((req, res) => {
    asked.push(req.url ?? "");
    if (req.url === "/train/")
      return void res.end(`1 ${sha256} MIT\n2 ${sha256} GPL-3.0-only\n3 ${"0".repeat(64)} MIT\n`);
    if (req.url === "/crate/") return void res.end(many);
    if (/^\/train\/[123]\.toy$/.test(req.url ?? "")) return void res.end(content);
    res.statusCode = 404;
    res.end();
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  t.after(() => upstream.close());
  const { port } = upstream.address() as AddressInfo;
  const fields = { ecosystem: TOY, url: `http://127.0.0.1:${port}`, reservedNames: ["hors*"] };
  await api("POST", `/libraries/v2/upstreams/${group.uid}`, fields);

  assert.deepEqual(await get("/train/"), { status: 200, text: "1\n2\n3\n" });
  for (let time = 0; time < 2; time += 1) assert.deepEqual(await get("/train/1.toy"), { status: 200, text: content });
  assert.equal((await get("/crate/")).text.split("\n").length, 3_001);
  assert.deepEqual(asked, ["/train/", "/train/1.toy", "/crate/"], "it is asked once for each");
  const wrong = await get("/train/3.toy");
  assert.equal(wrong.status, 502);
  assert.match(wrong.text, /another sha256 than the upstream says/);
  assert.equal((await get("/horse/")).status, 404);
  assert.ok(!asked.some((path) => path.includes("horse")));

  const deniedLicenses = ["GPL-*"];
  const policy = { ecosystem: TOY, mode: "POLICY_MODE_ENFORCE", cooldown: "0s", deniedLicenses };
  await api("POST", `/libraries/v2/artifactPolicies/${group.uid}`, { ...policy, blockedPurls: ["pkg:toy/train@3"] });
  assert.equal((await get("/train/")).text, "1\n");
  assert.deepEqual(await get("/train/2.toy"), {
    status: 403,
    text: "toy: Blocked: train@2 has the license GPL-3.0-only, which is not allowed",
  });
  assert.match((await get("/train/3.toy")).text, /is blocked by the rule pkg:toy\/train@3/);
  assert.ok(!asked.includes("/train/2.toy"), "what is blocked is not fetched");
  const { artifacts } = await api("GET", `/libraries/v2/artifacts?ecosystems=${TOY}&query=train`);
  assert.equal(artifacts.length, 1);
});

test("a server offers what it was started with", async () => {
  const { counts } = await api("GET", "/libraries/v2/artifacts/count");
  assert.equal(counts.length, 4);
  const keys = ecosystemsWith([]).map(({ key }) => key);
  assert.deepEqual(keys, ["npm", "pypi", "maven"], "the others do not have it");
  assert.equal((await ask("GET", "/toys/acme/-/bear/")).status, 404);
});
