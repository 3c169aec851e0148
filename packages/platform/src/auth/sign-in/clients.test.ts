import assert from "node:assert/strict";
import { test } from "node:test";
import { clientOf } from "./clients.ts";

const CONSOLE = "https://console.example.com/signed-in";
const mayRedirect = (id: string, uri: string): boolean | undefined => clientOf(id, [CONSOLE])?.mayRedirect(uri);

test("the command line may be redirected to a loopback address, at any port", () => {
  for (const uri of [
    "http://127.0.0.1:49152/callback",
    "http://127.0.0.1:1/",
    "http://127.0.0.1:65535",
    "http://[::1]:8123/a/b",
  ]) {
    assert.equal(mayRedirect("moorage-cli", uri), true, uri);
  }
});

test("the command line may be redirected to no other address, however similar", () => {
  for (const uri of [
    "http://localhost:8123/callback",
    "https://127.0.0.1:8123/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:0/",
    "http://127.0.0.1:65536/",
    "http://127.0.0.1:8123@evil.example/",
    "http://user@127.0.0.1:8123/",
    "http://user:8123@evil.example/",
    "http://127.0.0.1.evil.example:8123/",
    "http://evil.example:8123/",
    "http://127.0.0.1:8123/#",
    "http://127.0.0.1:8123/#code",
    "http://127.0.0.1:8123/?a=b",
    "http://127.0.0.1:8123/a/../b",
    "http://127.0.0.1:8123/%2e%2e/b",
    "http://127.0.0.1:8123/./a",
    "http://127.0.0.1:8123\\@evil.example/",
    "http://0x7f.0.0.1:8123/",
    "http://127.1:8123/",
    "http://2130706433:8123/",
    "http://0.0.0.0:8123/",
    "http://[::]:8123/",
    "http://[::ffff:127.0.0.1]:8123/",
    " http://127.0.0.1:8123/",
    "http://127.0.0.1:8123/\n",
    "http://127.0.0.1:8123//evil.example/..",
    "HTTP://127.0.0.1:8123/",
    "javascript:alert(1)",
    "",
    `http://127.0.0.1:8123/${"a".repeat(600)}`,
    CONSOLE,
  ])
    assert.equal(mayRedirect("moorage-cli", uri), false, uri);
});

test("a console may be redirected only to exactly the redirect URI that was set", () => {
  assert.equal(mayRedirect("moorage-web", CONSOLE), true);
  for (const uri of [
    `${CONSOLE}/`,
    `${CONSOLE}?a=b`,
    "https://console.example.com/",
    "https://console.example.com/a/../signed-in",
    "http://127.0.0.1:8123/",
  ]) {
    assert.equal(mayRedirect("moorage-web", uri), false, uri);
  }
  assert.equal(clientOf("other", []), undefined);
});
