import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import test from "node:test";
import { Capability } from "@moorage/api";
import fc from "fast-check";
import { decodeJwt, type JWK, SignJWT } from "jose";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { SigningKey } from "@moorage/kernel/signing/keys";
import { createKeyring } from "./keys.ts";
import { createTokens, isWrongAudience, type MintRequest } from "./tokens.ts";

const NOW = 1_800_000_000_500;
const UID = "a".repeat(40);
const issuer = "https://moorage.example";

function newKey(kid: string, createTimeMs = NOW): SigningKey {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { kid, ...pair, publicJwk: pair.publicKey.export({ format: "jwk" }) as JWK, createTimeMs, retireTimeMs: null };
}

function setUp(keys = [newKey("k")]) {
  const loads = { count: 0 };
  const keyring = createKeyring(async () => {
    loads.count += 1;
    return [...keys];
  });
  return { keys, keyring, loads, tokens: createTokens({ issuer, keyring }) };
}

const request = (changes: Partial<MintRequest> = {}): MintRequest => ({
  type: "access",
  identity: UID,
  audiences: [issuer],
  ttlMs: 60_000,
  nowMs: NOW,
  ...changes,
});

test("a minted token is verified as the same caller", async () => {
  const { tokens } = setUp();
  const wanted = { capabilities: [Capability.CAP_REPO_LIST], scopes: [UID], act: { iss: "x" } };
  const { token, tokenId, expiresAtMs } = await tokens.mint(request(wanted));
  assert.deepEqual(await tokens.verify(token, issuer, NOW), {
    identity: UID,
    tokenId,
    audiences: [issuer],
    expiresAtMs,
    ...wanted,
  });
  const anybody = await tokens.mint(
    request({ type: "registry", identity: "", access: [{ type: "repository", name: "public/a", actions: ["pull"] }] }),
  );
  assert.deepEqual((await tokens.verify(anybody.token, issuer, NOW)).repositories, [
    { name: "public/a", actions: ["pull"] },
  ]);
  const nothing = await tokens.mint(request({ capabilities: [] }));
  assert.deepEqual(
    (await tokens.verify(nothing.token, issuer, NOW)).capabilities,
    [],
    "narrowed to nothing is not unnarrowed",
  );
  await assert.rejects(tokens.mint(request({ identity: "" })), TypeError);
  await assert.rejects(tokens.mint(request({ access: [] })), TypeError);
});

test("a token ends after an hour at most and not after notAfterMs, rounded down to the second", async () => {
  const { tokens } = setUp();
  const life = async (changes: Partial<MintRequest>) => (await tokens.mint(request(changes))).expiresAtMs - NOW;
  assert.equal(await life({ ttlMs: 10 * 3_600_000 }), 3_600_000 - 500);
  assert.equal(await life({ notAfterMs: NOW + 1_700 }), 1_500);
  assert.equal(await life({ notAfterMs: Infinity }), 59_500);
});

test("the time, key and audience of a cached token are checked again", async () => {
  const { tokens, keys, keyring } = setUp();
  const { token, expiresAtMs } = await tokens.mint(request());
  await tokens.verify(token, issuer, NOW);
  await tokens.verify(token, issuer, expiresAtMs - 1);
  await assert.rejects(tokens.verify(token, issuer, expiresAtMs), { code: Code.Unauthenticated });
  await assert.rejects(tokens.verify(token, "another", NOW), isWrongAudience);
  await assert.rejects(tokens.verify(token, `${issuer}/`, NOW), isWrongAudience);
  keys.length = 0;
  keyring.refresh();
  await assert.rejects(tokens.verify(token, issuer, NOW), { code: Code.Unauthenticated });
});

test("a token that we signed is rejected when its claims are malformed", async () => {
  const { tokens, keys } = setUp();
  const good = decodeJwt((await tokens.mint(request())).token);
  const signed = (changes: object, typ = "at+jwt") =>
    new SignJWT({ ...good, ...changes })
      .setProtectedHeader({ alg: "ES256", kid: "k", typ })
      .sign(keys[0]?.privateKey ?? new Uint8Array());
  await tokens.verify(await signed({}), issuer, NOW);
  for (const changes of [
    { iss: `${issuer}/` },
    { iss: [issuer] },
    { sub: "" },
    { sub: "x" },
    { sub: `${UID}/` },
    { jti: undefined },
    { aud: [] },
    { aud: [1] },
    { cap: "CAP_REPO_LIST" },
    { cap: [1605] },
    { scopes: UID },
    { access: [] },
    { exp: undefined },
    { nbf: 9e9 },
    { iat: 9e9 },
  ])
    await assert.rejects(
      tokens.verify(await signed(changes), issuer, NOW),
      { code: Code.Unauthenticated },
      JSON.stringify(changes),
    );
  await assert.rejects(tokens.verify(await signed({}, "JWT"), issuer, NOW), { code: Code.Unauthenticated });
  await assert.rejects(tokens.verify(await signed({}, "moorage-registry+jwt"), issuer, NOW), {
    code: Code.Unauthenticated,
  });
  assert.deepEqual(
    (await tokens.verify(await signed({ cap: ["CAP_UNHEARD_OF", "__proto__"] }), issuer, NOW)).capabilities,
    [],
    "an unknown capability gives nothing",
  );
});

test("unknown kids have the keys loaded at most once a second", async () => {
  const { keyring, loads, keys } = setUp();
  for (let index = 0; index < 50; index += 1) assert.equal(await keyring.find(`k${index}`, NOW + index), undefined);
  assert.equal(loads.count, 1);
  keys.unshift(newKey("new", NOW + 1));
  assert.equal((await keyring.find("new", NOW + 1_001))?.kid, "new");
  assert.equal((await keyring.signing(NOW + 1_002)).kid, "k", "a key that others may not know yet signs nothing");
  assert.equal((await keyring.jwks(NOW + 1_002)).keys.length, 2);
  assert.equal((await keyring.signing(NOW + 120_001)).kid, "new");
});

test("a retired key no longer signs, still verifies for two hours, and is then forgotten", async () => {
  const { keyring, keys } = setUp([newKey("new"), { ...newKey("old"), retireTimeMs: NOW }]);
  assert.equal((await keyring.signing(NOW)).kid, "new");
  assert.equal((await keyring.find("old", NOW + 3_600_000))?.kid, "old");
  assert.equal((await keyring.jwks(NOW)).keys.length, 2);
  assert.equal(await keyring.find("old", NOW + 7_200_000), undefined);
  assert.equal((await keyring.jwks(NOW + 7_200_000)).keys.length, 1);
  keys.length = 0;
  keyring.refresh();
  await assert.rejects(keyring.signing(NOW));
});

test("any text that is not a token of ours is rejected as UNAUTHENTICATED", async () => {
  const { tokens } = setUp();
  const { token } = await tokens.mint(request());
  const broken = fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom(..."AZaz09-_.=% \n"))
    .map(([at, unit]) => token.slice(0, at) + unit + token.slice(at + 1));
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string({ maxLength: 9_000 }), broken), async (text) => {
      if (text === token) return;
      await assert.rejects(
        tokens.verify(text, issuer, NOW),
        (error: unknown) => error instanceof MoorageError && error.code === Code.Unauthenticated,
      );
    }),
    { numRuns: 500 },
  );
});
