import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { mac, openPageToken, sealPageToken } from "./page-token.ts";

test("the authentication code is the first 16 bytes of HMAC-SHA-256", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.uint8Array({ maxLength: 300 }), (key, body) => {
      assert.deepEqual(mac(key, body), createHmac("sha256", key).update(body).digest().subarray(0, 16));
    }),
  );
  assert.throws(() => mac(new Uint8Array(65), new Uint8Array()), RangeError);
});

test("a page token is opened only with its own key, and rejected when any bit is changed", () => {
  const [key, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const token = { list: "a.List", request: "AAEC", position: ["name", 7, "uid"], issuedMs: 1_700_000_000_000 };
  const text = sealPageToken(key, token);
  assert.deepEqual(openPageToken(key, text), token);
  assert.throws(() => openPageToken(other, text));
  const bytes = Buffer.from(text, "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => openPageToken(key, changed.toString("base64url")));
  }
});
