import assert from "node:assert/strict";
import { createPublicKey, type JsonWebKey, verify } from "node:crypto";
import { test } from "node:test";
import { makePassword } from "./password-key.ts";

test("a password is signed with the key that the identity is given, and has its claims", async () => {
  const made = await makePassword({
    issuer: "moorage-pull-token",
    audience: "registry.example",
    nowMs: 1_000_999,
    endMs: 2_000_000,
    scopes: ["a/b"],
  });
  const [header = "", claims = "", signature = ""] = made.token.split(".");
  const [key] = (JSON.parse(made.issuerKeys) as { keys: JsonWebKey[] }).keys;
  assert.ok(key);
  const publicKey = createPublicKey({ key, format: "jwk" });
  const input = Buffer.from(`${header}.${claims}`);
  const isGood = verify(
    "sha256",
    input,
    { key: publicKey, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  assert.equal(isGood, true);
  assert.deepEqual(JSON.parse(Buffer.from(claims, "base64url").toString()), {
    iss: "moorage-pull-token",
    sub: made.subject,
    aud: "registry.example",
    iat: 1000,
    exp: 2000,
    scopes: ["a/b"],
  });
  assert.equal("d" in (key ?? {}), false);
});
