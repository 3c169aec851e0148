import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, encode } from "../../../server/test/support/attacks.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";

// Keys of a wrong type, curve or size, and tokens that name one algorithm and were signed with another.
let house: AccessHouse;
let issuer: Issuer;
const { claims, exchange, matching, unaccepted, unusable } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  await house.addIdentity(matching("robot"));
});
afterEach(() => issuer.close());

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}
const ec = (namedCurve: string): Pair => generateKeyPairSync("ec", { namedCurve });
const jwk = ({ publicKey }: Pair, changes: Record<string, unknown> = {}): typeof issuer.key.jwk =>
  ({ ...publicKey.export({ format: "jwk" }), kid: "one", ...changes }) as typeof issuer.key.jwk;

/** A token signed as the algorithm requires, whatever key that takes. */
function forged(header: Record<string, unknown>, { privateKey }: Pair, digest: string | undefined): string {
  const input = `${encode({ kid: "one", ...header })}.${encode(claims())}`;
  return `${input}.${sign(digest, Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

/** Publishes the keys, and waits until the cached keys have expired. */
function publish(...keys: (typeof issuer.key.jwk)[]): void {
  issuer.jwks.keys = keys;
  house.clock.nowMs += 601_000;
}

test("every supported type of key is accepted with its own algorithm", async () => {
  const ed = generateKeyPairSync("ed25519");
  for (const [pair, alg, digest] of [
    [ec("P-256"), "ES256", "sha256"],
    [ec("P-384"), "ES384", "sha384"],
    [ec("P-521"), "ES512", "sha512"],
    [ed, "EdDSA", undefined],
  ] as const) {
    publish(jwk(pair));
    await exchange(forged({ alg }, pair, digest));
  }
});

test("a curve other than the algorithm's is refused, and so are unsupported curves", async () => {
  const [p256, p384, koblitz] = [ec("P-256"), ec("P-384"), ec("secp256k1")];
  const ed = generateKeyPairSync("ed25519");
  for (const [key, pair, alg, digest] of [
    [jwk(p384), p384, "ES256", "sha256"],
    [jwk(p384, { alg: "ES256" }), p384, "ES256", "sha256"],
    [jwk(p384, { crv: "P-256" }), p384, "ES256", "sha256"],
    [jwk(p256), p256, "ES384", "sha384"],
    [jwk(p256, { crv: "P-384" }), p256, "ES384", "sha384"],
    [jwk(koblitz), koblitz, "ES256K", "sha256"],
    [jwk(koblitz), koblitz, "ES256", "sha256"],
    [jwk(koblitz, { crv: "P-256" }), koblitz, "ES256", "sha256"],
    [jwk(ed, { kty: "EC" }), ed, "EdDSA", undefined],
    [jwk(ed, { crv: "X25519" }), ed, "EdDSA", undefined],
    [jwk(ed), ed, "ES256", undefined],
    [jwk(p256, { kty: "OKP" }), p256, "ES256", "sha256"],
    [jwk(p256, { kty: "RSA" }), p256, "ES256", "sha256"],
    [jwk(p256, { alg: "RS256" }), p256, "ES256", "sha256"],
  ] as const) {
    publish(key);
    await unaccepted(exchange(forged({ alg }, pair, digest)));
  }
});

test("an ECDSA signature that is no pair of numbers, or a pair of zeros, is refused", async () => {
  const pair = ec("P-256");
  publish(jwk(pair));
  const input = `${encode({ alg: "ES256", kid: "one" })}.${encode(claims())}`;
  const der = sign("sha256", Buffer.from(input), { key: pair.privateKey }).toString("base64url");
  for (const signature of [
    Buffer.alloc(64).toString("base64url"),
    Buffer.alloc(64, 255).toString("base64url"),
    der,
    "AA",
  ]) {
    await unaccepted(exchange(`${input}.${signature}`));
  }
  await exchange(forged({ alg: "ES256" }, pair, "sha256"));
});

test("an RSA key that is too short is refused, and so are keys for other uses", async () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 });
  publish(jwk(short));
  await unaccepted(exchange(forged({ alg: "RS256" }, short, "sha256")));
  const good = { ...issuer.key.jwk };
  for (const changes of [
    { use: "enc" },
    { key_ops: ["encrypt"] },
    { key_ops: [] },
    { alg: "HS256" },
    { alg: "RSA-OAEP" },
    { kty: "oct" },
    { kid: 1 },
    { e: "" },
    { n: "AA" },
  ]) {
    publish({ ...good, ...changes } as typeof good);
    await unaccepted(exchange(await issuer.sign(claims())));
  }
  publish(good);
  await exchange(await issuer.sign(claims()));
});

test("a bad key does not affect a good one in the same set; a token without kid needs a set with a single usable key", async () => {
  const [one, two] = [ec("P-256"), ec("P-256")];
  const secret = { kty: "oct", k: "AAAA", kid: "two", alg: "HS256" };
  publish(jwk(one), secret, jwk(ec("secp256k1"), { kid: "three" }));
  await exchange(forged({ alg: "ES256" }, one, "sha256"));
  await exchange(forged({ alg: "ES256", kid: undefined }, one, "sha256"));
  publish(jwk(one), jwk(two, { kid: "two" }));
  await unaccepted(exchange(forged({ alg: "ES256", kid: undefined }, one, "sha256")));
  await unaccepted(exchange(forged({ alg: "ES256", kid: "two" }, one, "sha256")));
  publish({ ...one.privateKey.export({ format: "jwk" }), kid: "one" } as typeof issuer.key.jwk);
  await unaccepted(exchange(forged({ alg: "ES256" }, one, "sha256")));
});

test("a kid of several keys names each of them: the one that signed the token counts", async () => {
  const [one, two, rsa] = [ec("P-256"), ec("P-256"), generateKeyPairSync("rsa", { modulusLength: 2048 })];
  const others: Record<string, unknown>[] = [
    { kty: "oct", k: "AAAA", kid: "one", alg: "HS256" },
    { kty: "AKP", alg: "ML-DSA-44", pub: "AAAA", kid: "one" },
    { kty: "unheard-of", kid: "one" },
    jwk(two, { use: "enc" }),
    jwk(rsa, { use: "enc", alg: "RSA-OAEP" }),
    jwk(rsa),
    jwk(two),
  ];
  for (const other of others)
    for (const keys of [
      [jwk(one), other],
      [other, jwk(one)],
    ]) {
      publish(...(keys as (typeof issuer.key.jwk)[]));
      await exchange(forged({ alg: "ES256" }, one, "sha256"));
      await unaccepted(exchange(forged({ alg: "ES256" }, ec("P-256"), "sha256")));
    }
  publish(jwk(one), jwk(two));
  await exchange(forged({ alg: "ES256" }, two, "sha256"));
});

test("a key that was replaced under the same kid is read again, at most every 30 s", async () => {
  const [old, next] = [ec("P-256"), ec("P-256")];
  publish(jwk(old));
  await exchange(forged({ alg: "ES256" }, old, "sha256"));
  issuer.jwks.keys = [jwk(next)];
  await unaccepted(exchange(forged({ alg: "ES256" }, next, "sha256")));
  house.clock.nowMs += 31_000;
  await exchange(forged({ alg: "ES256" }, next, "sha256"));
  await unaccepted(exchange(forged({ alg: "ES256" }, old, "sha256")));
});

test("256 keys are read, and a set with more is refused whole: none is left out silently", async () => {
  const pair = ec("P-256");
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => jwk(at === count - 1 ? pair : ec("P-256"), { kid: `key-${at}` }));
  publish(...many(256));
  await exchange(forged({ alg: "ES256", kid: "key-255" }, pair, "sha256"));
  publish(...many(257));
  const because = "its key set holds 257 keys, more than 256";
  await unusable(exchange(forged({ alg: "ES256", kid: "key-0" }, pair, "sha256")), because);
  await unusable(exchange(forged({ alg: "ES256", kid: "key-256" }, pair, "sha256")), because);
});
