import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Platform, startPlatform } from "../support/platform.ts";

// GET / in a browser.

let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_CONSOLE: "0" });
});
after(() => platform.close());

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

test("a browser that opens the server's address gets a page: what this is, links, and whether the server is ready", async () => {
  const page = await platform.call("GET", "/", { headers: BROWSER });
  assert.equal(page.status, 200);
  assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
  assert.match(page.text, /Moorage/);
  assert.match(page.text, /container registry/);
  assert.match(page.text, /The server is ready/);
  assert.ok(page.text.includes(`docker login ${new URL(platform.url).host}`), page.text);
  const links = [...page.text.matchAll(/href="([^"]+)"/g)].map(([, path = ""]) => path);
  assert.ok(links.includes("/docs"), page.text);
  assert.ok(links.includes("/readyz"), page.text);
  for (const path of links) assert.equal((await fetch(platform.url + path)).status, 200, path);
});

test("the page has no scripts, is not framed, not cached, and names no organization", async () => {
  const { headers, text } = await platform.call("GET", "/", { headers: BROWSER });
  assert.match(String(headers["content-security-policy"]), /^default-src 'none'; .*frame-ancestors 'none'/);
  assert.equal(headers["cache-control"], "no-store");
  assert.equal(headers["vary"], "accept");
  assert.doesNotMatch(text, /<script|acme/);
});

test("programs get what they got before: an error of the API, as for every unknown path", async () => {
  for (const accept of ["*/*", "application/json", "application/json, text/html;q=0"]) {
    const answer = await platform.call("GET", "/", { headers: { accept } });
    assert.deepEqual([answer.status, answer.body.code], [404, 5], accept);
  }
  assert.equal((await platform.call("GET", "/")).status, 404);
  assert.equal((await platform.call("POST", "/", { body: {}, headers: BROWSER })).status, 404);
  const head = await fetch(`${platform.url}/`, { method: "HEAD", headers: BROWSER });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
});
