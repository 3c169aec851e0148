import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, encode, NAMELESS, refused, saying } from "../../../server/test/support/attacks.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";

// One test for each attack: it begins with a token that is accepted, changes one thing, and expects a rejection.
let house: AccessHouse;
let issuer: Issuer;
let identity: string;
const { claims, exchange, matching, seconds, unaccepted } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  identity = await house.addIdentity(matching("robot"));
});
afterEach(() => issuer.close());

describe("external tokens", () => {
  test("the unchanged token is accepted, with the identity's uid and without", async () => {
    const { token } = await exchange(await issuer.sign(claims()));
    assert.equal((await house.authenticate(`Bearer ${token}`, "platform", house.clock.nowMs)).identity, identity);
    assert.equal(
      (await house.tokens.read((await exchange(await issuer.sign(claims()), { identity })).token, house.clock.nowMs))
        .identity,
      identity,
    );
  });

  test("algorithm confusion is refused: HS256 with the public key as the secret", async () => {
    const input = `${encode({ alg: "HS256", kid: "one" })}.${encode(claims())}`;
    for (const secret of [
      issuer.key.publicKey.export({ type: "spki", format: "pem" }),
      JSON.stringify(issuer.key.jwk),
    ]) {
      await unaccepted(exchange(`${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`));
    }
  });

  test("another algorithm than the key's own is refused", async () => {
    await unaccepted(exchange(await issuer.sign(claims(), { alg: "PS256" })));
    await unaccepted(exchange(await issuer.sign(claims(), { alg: "RS512" })));
  });

  test("a token without algorithm or signature is refused", async () => {
    for (const alg of ["none", "None", "", "nOnE"]) {
      await refused(exchange(`${encode({ alg, kid: "one" })}.${encode(claims())}.`));
      await unaccepted(exchange(`${encode({ alg, kid: "one" })}.${encode(claims())}.AA`));
    }
  });

  test("a changed body or another token's signature is refused", async () => {
    const [header, , signature] = (await issuer.sign(claims())).split(".");
    await unaccepted(exchange(`${header}.${encode(claims({ exp: seconds(301) }))}.${signature}`));
    await unaccepted(exchange(await issuer.sign(claims(), {}, newKey("one").privateKey)));
  });

  test("a wrong audience is refused", async () => {
    for (const aud of [
      undefined,
      "",
      [],
      "https://else.where",
      `${house.baseUrl}/`,
      `${house.baseUrl}.evil.example`,
      [house.baseUrl, 1],
      { [house.baseUrl]: 1 },
    ]) {
      await saying(
        exchange(await issuer.sign(claims({ aud }))),
        `${NAMELESS} does not accept claim aud, which is ${JSON.stringify(aud) ?? "absent"}`,
      );
    }
    await exchange(await issuer.sign(claims({ aud: ["https://else.where", house.baseUrl] })));
  });

  test("expired tokens, future tokens and tokens without times are refused", async () => {
    for (const changes of [
      { exp: seconds(0) },
      { exp: seconds(-1) },
      { exp: undefined },
      { exp: "9999999999" },
      { exp: null },
      { exp: 1e300 },
    ]) {
      await saying(
        exchange(await issuer.sign(claims(changes))),
        `it has expired: claim exp is ${JSON.stringify(changes.exp) ?? "absent"}`,
      );
    }
    for (const changes of [{ nbf: seconds(120) }, { iat: seconds(120) }, { nbf: "0" }, { iat: -5 }]) {
      const [[claim, value] = []] = Object.entries(changes);
      await saying(
        exchange(await issuer.sign(claims(changes))),
        `it is not valid yet: claim ${claim} is ${JSON.stringify(value)}`,
      );
    }
    for (const changes of [{ exp: seconds(-1) }, { nbf: seconds(120) }, { aud: "https://else.where" }]) {
      await unaccepted(exchange(await issuer.sign(claims(changes), {}, newKey("one").privateKey)));
    }
    await exchange(await issuer.sign(claims({ nbf: seconds(30), iat: seconds(30) })));
  });

  test("an unknown kid is refused; a new key counts once the issuer publishes it, until the issuer removes it", async () => {
    await exchange(await issuer.sign(claims()));
    const next = newKey("two");
    await unaccepted(exchange(await issuer.sign(claims(), { kid: "two" }, next.privateKey)));
    house.clock.nowMs += 31_000;
    await unaccepted(exchange(await issuer.sign(claims(), { kid: "two" }, next.privateKey)));
    const asked = issuer.requests.length;
    for (let index = 0; index < 20; index += 1)
      await unaccepted(exchange(await issuer.sign(claims(), { kid: `made-up-${index}` })));
    assert.equal(issuer.requests.length, asked, "made-up kids must not drive requests");
    issuer.jwks.keys.splice(0, 1, next.jwk);
    house.clock.nowMs += 31_000;
    await exchange(await issuer.sign(claims(), { kid: "two" }, next.privateKey));
    await unaccepted(exchange(await issuer.sign(claims())));
  });

  test("keys in the token's header are ignored, and critical extensions are refused", async () => {
    const evil = newKey("one");
    const jku = `${issuer.url}/evil`;
    issuer.routes.set("/evil", (_request, response) => response.end(JSON.stringify({ keys: [evil.jwk] })));
    await unaccepted(exchange(await issuer.sign(claims(), { jwk: evil.jwk, jku, x5u: jku }, evil.privateKey)));
    assert.ok(!issuer.requests.includes("/evil"));
    const input = `${encode({ alg: "RS256", kid: "one", crit: ["b64"], b64: true })}.${encode(claims())}`;
    await refused(exchange(`${input}.AAAA`));
    await exchange(await issuer.sign(claims()));
    await refused(exchange(await issuer.sign(claims(), { crit: ["b64"], b64: true })));
  });

  test("a key set with private keys, secrets or keys for other uses verifies nothing", async () => {
    const twin = newKey("one");
    const sets = [
      [{ ...issuer.key.privateKey.export({ format: "jwk" }), kid: "one" }],
      [{ kty: "oct", k: encode({}), kid: "one", alg: "HS256" }],
      [twin.jwk],
      [{ ...issuer.key.jwk, use: "enc" }],
      [{ ...issuer.key.jwk, alg: "ES256" }],
      [{ ...issuer.key.jwk, kty: "EC" }],
      [],
    ];
    for (const keys of sets) {
      issuer.jwks.keys = keys as typeof issuer.jwks.keys;
      await unaccepted(exchange(await issuer.sign(claims())));
      house.clock.nowMs += 601_000;
    }
  });

  test("no request is sent to an issuer that no identity names", async () => {
    const stranger = await openIssuer();
    try {
      await unaccepted(exchange(await stranger.sign(claims({ iss: stranger.url }))), { iss: stranger.url });
      await unaccepted(exchange(await stranger.sign(claims({ iss: stranger.url })), { identity }), {
        identity,
        iss: stranger.url,
      });
      assert.deepEqual(stranger.requests, []);
    } finally {
      await stranger.close();
    }
  });

  test("missing, foreign, deleted and malformed identities get the same answer", async () => {
    const foreign = await house.addIdentity(matching("another"));
    const bare = await house.addIdentity({ case: undefined });
    const deleted = await house.addIdentity(matching("robot"));
    await house.db.deleteFrom("identities").where("uid", "=", deleted).execute();
    const asked = issuer.requests.length;
    for (const uid of [newUid(""), bare, deleted, "no uid", `${identity}/`, identity.toUpperCase()]) {
      await unaccepted(exchange(await issuer.sign(claims()), { identity: uid }), { identity: uid });
    }
    assert.equal(issuer.requests.length, asked, "nobody was asked");
    // For a token that the issuer did not sign the answer is the same, even where an identity names the issuer.
    const { privateKey } = newKey("one");
    for (const uid of [newUid(""), bare, deleted, foreign, identity]) {
      await unaccepted(exchange(await issuer.sign(claims(), {}, privateKey), { identity: uid }), { identity: uid });
    }
    await saying(
      exchange(await issuer.sign(claims()), { identity: foreign }),
      `identity ${foreign} does not accept claim sub, which is "robot"`,
    );
  });

  test("oversized and malformed tokens are refused", async () => {
    await refused(exchange(await issuer.sign(claims({ filler: "x".repeat(20_000) }))));
    const deep = `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    const nested = `${encode({ alg: "RS256" })}.${Buffer.from(deep).toString("base64url")}.AA`;
    for (const bad of ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", nested, " "]) await refused(exchange(bad));
  });
});
