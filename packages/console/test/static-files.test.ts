import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type Platform, startPlatform } from "../../server/test/support/platform.ts";

// How the server serves the console's page and files.
const HTML = "text/html,application/xhtml+xml,*/*;q=0.8";
let platform: Platform;
before(async () => {
  const cwd = join(import.meta.dirname, "../../..");
  execFileSync(process.execPath, ["scripts/console.ts", "--if-stale"], { cwd, timeout: 300_000 });
  platform = await startPlatform();
});
after(() => platform?.close());

const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
  fetch(platform.url + path, { method, headers: { accept: HTML, "accept-encoding": "identity", ...headers } });
const pageOf = async (path = "/"): Promise<string> => await (await get(path)).text();
const scriptOf = (page: string): string => /src="(\/console\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? assert.fail(page);

test("a browser gets the page at every address that is not the API's, and programs get what they got before", async () => {
  const page = await pageOf();
  assert.match(page, /<div id="root">/);
  for (const path of ["/repo?name=acme/app", "/sign-in/link", "/events/subscriptions", "/no/such/page"])
    assert.equal(await pageOf(path), page, path);
  const program = await get("/", { accept: "*/*" });
  assert.deepEqual([program.status, program.headers.get("content-type")], [404, "application/json"]);
  for (const path of ["/iam/v2/groups", "/registry/v2/nothing", "/v2/", "/session", "/healthz"]) {
    const answer = await get(path);
    assert.doesNotMatch(await answer.text(), /<div id="root">/, path);
  }
  assert.notEqual((await get("/", {}, "POST")).status, 200);
});

test("the page lets in no script or style but the server's own, and is in no frame", async () => {
  const { headers } = await get("/");
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|data:|https?:|\*/);
  assert.deepEqual(
    ["x-content-type-options", "referrer-policy", "cache-control"].map((name) => headers.get(name)),
    ["nosniff", "no-referrer", "no-cache"],
  );
});

test("files are compressed, kept for good under the name of their content, and not sent twice", async () => {
  const script = scriptOf(await pageOf());
  const plain = await get(script);
  const text = Buffer.from(await plain.arrayBuffer());
  assert.equal(plain.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.match(plain.headers.get("cache-control") ?? "", /immutable/);
  for (const [coding, unpack] of [
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ] as const) {
    const { request } = await import("node:http");
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    request(platform.url + script, { headers: { "accept-encoding": coding } }, (answer) => {
      assert.equal(answer.headers["content-encoding"], coding);
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part)).on("end", () => resolve(Buffer.concat(parts)));
    })
      .on("error", reject)
      .end();
    assert.ok(unpack(await promise).equals(text), coding);
  }
  const etag = plain.headers.get("etag") ?? "";
  assert.equal((await get(script, { "if-none-match": etag })).status, 304);
  const head = await get(script, {}, "HEAD");
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(text.length)]);
});

test("nothing but the console's files is served below its folder", async () => {
  for (const path of [
    "/console/nothing.js",
    "/console/../index.html",
    "/console/%2e%2e/package.json",
    "/console/assets/",
    "/console/compressed",
    "/console/assets/..%2f..%2f..%2fpackage.json",
  ]) {
    const answer = await fetch(platform.url + path, { headers: { accept: "*/*" } });
    assert.equal(answer.status, 404, path);
    await answer.body?.cancel();
  }
});

test("MOORAGE_CONSOLE=0 leaves the console out", async (t) => {
  const without = await startPlatform({ MOORAGE_CONSOLE: "0" });
  t.after(() => without.close());
  const home = await fetch(without.url, { headers: { accept: HTML } });
  assert.match(await home.text(), /The platform API/);
  assert.equal((await fetch(`${without.url}/repo`, { headers: { accept: HTML } })).status, 404);
  assert.equal((await fetch(`${without.url}/console/theme.js`)).status, 404);
});
