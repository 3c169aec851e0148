import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import { jwksFault, usableKeys } from "./jwks.ts";

const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength });
const p256 = ec("P-256");
const publicJwk = { ...p256.publicKey.export({ format: "jwk" }), kid: "a" };

test("public signature keys of every supported type are accepted", () => {
  const ed = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const document = {
    keys: [
      publicJwk,
      { ...ec("P-384").publicKey.export({ format: "jwk" }), kid: "b", use: "sig" },
      { ...rsa(2048).publicKey.export({ format: "jwk" }), alg: "PS256" },
      ed,
    ],
  };
  assert.equal(jwksFault(document), undefined);
  assert.deepEqual(
    usableKeys(document).map(({ kid, algorithms }) => [kid, algorithms[0]]),
    [
      ["a", "ES256"],
      ["b", "ES384"],
      [undefined, "PS256"],
      [undefined, "EdDSA"],
    ],
  );
});

test("a key of any other kind is a fault of the document, and is skipped in the JWK Set of another issuer", () => {
  for (const bad of [
    p256.privateKey.export({ format: "jwk" }),
    { kty: "oct", k: "AAAA", alg: "HS256" },
    { ...publicJwk, use: "enc" },
    { ...publicJwk, alg: "RS256" },
    { ...publicJwk, alg: "HS256" },
    { ...publicJwk, alg: "none" },
    { ...publicJwk, crv: "P-384" },
    { ...publicJwk, x: "AAAA" },
    { ...publicJwk, kty: "OKP" },
    { ...publicJwk, kid: 7 },
    { ...publicJwk, key_ops: ["sign"] },
    { ...publicJwk, crv: "__proto__" },
    rsa(1024).publicKey.export({ format: "jwk" }),
    ec("secp256k1").publicKey.export({ format: "jwk" }),
    generateKeyPairSync("x25519").publicKey.export({ format: "jwk" }),
    null,
    "key",
    [],
  ]) {
    assert.equal(typeof jwksFault({ keys: [bad] }), "string", JSON.stringify(bad));
    assert.deepEqual(usableKeys({ keys: [bad] }), [], JSON.stringify(bad));
  }
  for (const document of [
    undefined,
    null,
    {},
    [],
    { keys: {} },
    { keys: [] },
    { keys: Array.from({ length: 65 }, (_, kid) => ({ ...publicJwk, kid: String(kid) })) },
  ]) {
    assert.equal(typeof jwksFault(document), "string");
  }
});

test("a kid that occurs twice names no key", () => {
  const document = {
    keys: [publicJwk, { ...ec("P-256").publicKey.export({ format: "jwk" }), kid: "a" }, { ...publicJwk, kid: "b" }],
  };
  assert.deepEqual(
    usableKeys(document).map(({ kid }) => kid),
    ["b"],
  );
  assert.equal(typeof jwksFault(document), "string");
  // Also when the other key with this kid could not be used.
  assert.deepEqual(usableKeys({ keys: [publicJwk, { kty: "oct", k: "AAAA", kid: "a" }] }), []);
});
