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

test("a key of any other kind alone is a fault of the document, and is skipped in the JWK Set of another issuer", () => {
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
    { keys: Array.from({ length: 257 }, (_, kid) => ({ ...publicJwk, kid: String(kid) })) },
  ]) {
    assert.equal(typeof jwksFault(document), "string");
  }
});

test("a kid may name several keys, and what cannot be used beside a key that can is ignored", () => {
  const other = { ...ec("P-256").publicKey.export({ format: "jwk" }), kid: "a" };
  const twice = { keys: [publicJwk, other, { ...publicJwk, kid: "b" }] };
  assert.deepEqual(
    usableKeys(twice).map(({ kid }) => kid),
    ["a", "a", "b"],
  );
  assert.equal(jwksFault(twice), undefined);
  for (const ignored of [
    { ...other, use: "enc" },
    { ...other, use: "x509-svid" },
    { kty: "AKP", alg: "ML-DSA-44", pub: "AAAA", kid: "a" },
    { ...publicJwk, key_ops: ["encrypt"] },
  ]) {
    assert.equal(jwksFault({ keys: [ignored, publicJwk] }), undefined);
    assert.equal(usableKeys({ keys: [ignored, publicJwk] }).length, 1);
  }
  const spiffe = {
    keys: [
      { ...other, use: "x509-svid" },
      { ...publicJwk, use: "jwt-svid" },
    ],
    spiffe_sequence: 1,
  };
  assert.deepEqual([jwksFault(spiffe), usableKeys(spiffe).length], [undefined, 1]);
  // Whoever hands over a secret by mistake should hear of it.
  for (const bad of [{ kty: "oct", k: "AAAA", kid: "b" }, p256.privateKey.export({ format: "jwk" })])
    assert.equal(jwksFault({ keys: [publicJwk, bad] }), "must hold public keys alone, no private or symmetric ones");
});
