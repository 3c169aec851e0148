import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { Capability } from "@moorage/api";
import { isWrongAudience } from "../../src/auth/index.ts";
import { isWithin, newUid } from "../../../kernel/src/lib/uid.ts";
import { Code } from "../../../kernel/src/errors.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, encode, refused, saidExpired } from "../../../server/test/support/attacks.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";

// One test for each attack: it begins with a token that is accepted, changes one thing, and expects a rejection.
let house: AccessHouse;
let issuer: Issuer;
let identity: string;
const { claims, exchange, matching } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  identity = await house.addIdentity(matching("robot"));
});
afterEach(() => issuer.close());

describe("tokens of this issuer", () => {
  const groupA = newUid("");
  const below = newUid(groupA);
  const sibling = `${below.slice(0, -16)}${"0".repeat(16)}`;
  const now = () => house.clock.nowMs;

  test("an exchange of an own token keeps the identity and gives no longer life, no more rights and no refresh token", async () => {
    const { token, expiresAtMs } = await exchange(await issuer.sign(claims()), {
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
      scopes: [groupA],
    });
    house.clock.nowMs += 1_800_000;
    const again = await exchange(token);
    assert.equal(again.expiresAtMs, expiresAtMs);
    assert.equal(again.refreshToken, "");
    const { capabilities, scopes, identity: who } = await house.tokens.read(again.token, now());
    assert.deepEqual(
      [capabilities, scopes, who],
      [[Capability.CAP_REPO_LIST, Capability.CAP_TAG_LIST], [groupA], identity],
    );
    const wider = await exchange(token, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"], scopes: [below] });
    const less = await house.tokens.read(wider.token, now());
    assert.deepEqual([less.capabilities, less.scopes], [[Capability.CAP_REPO_LIST], [below]]);
    await refused(exchange(token, { capabilities: ["CAP_REPO_DELETE"] }), Code.PermissionDenied);
    await refused(exchange(token, { scopes: [newUid("")] }), Code.PermissionDenied);
    await refused(exchange(token, { identity: await house.addIdentity(matching("another")) }));
    house.clock.nowMs = expiresAtMs;
    await saidExpired(exchange(token), expiresAtMs);
  });

  test("a token scoped to a group is refused for a sibling whose uid begins alike", async () => {
    const long = `${below}0`;
    assert.equal(isWithin(long, below), false);
    const { token } = await exchange(await issuer.sign(claims()), { scopes: [below] });
    await refused(exchange(token, { scopes: [sibling] }), Code.PermissionDenied);
    await refused(exchange(token, { scopes: [long] }), Code.InvalidArgument);
    const up = await exchange(token, { scopes: [groupA] });
    assert.deepEqual((await house.tokens.read(up.token, now())).scopes, [below]);
  });

  test("a token for the registry's audience is refused by the platform API", async () => {
    const { token } = await exchange(await issuer.sign(claims()), { audiences: [house.registryAudience] });
    assert.equal((await house.authenticate(`Bearer ${token}`, "registry", now())).identity, identity);
    await assert.rejects(house.authenticate(`Bearer ${token}`, "platform", now()), isWrongAudience);
    await refused(exchange(token), Code.PermissionDenied);
    await refused(exchange(token, { audiences: [house.registryAudience, house.baseUrl] }), Code.PermissionDenied);
    const registry = await house.tokens.mint({
      type: "registry",
      identity,
      audiences: [house.registryAudience, house.baseUrl],
      ttlMs: 60_000,
      nowMs: now(),
      access: [{ type: "repository", name: "acme/api", actions: ["pull"] }],
    });
    assert.deepEqual((await house.authenticate(`Bearer ${registry.token}`, "registry", now())).repositories, [
      { name: "acme/api", actions: ["pull"] },
    ]);
    await refused(house.authenticate(`Bearer ${registry.token}`, "platform", now()));
    await refused(exchange(registry.token));
  });

  test("the token that signs an event's delivery is accepted nowhere, whatever its audience", async () => {
    const webhook = { digest: `sha256:${"0".repeat(64)}` };
    for (const audiences of [
      ["customer"],
      [house.baseUrl],
      [house.registryAudience],
      ["customer", house.baseUrl, house.registryAudience],
    ]) {
      for (const whose of [groupA, identity]) {
        const { token } = await house.tokens.mint({
          type: "webhook",
          identity: whose,
          audiences,
          ttlMs: 60_000,
          nowMs: now(),
          webhook,
        });
        await refused(house.tokens.read(token, now()));
        await refused(house.authenticate(`Bearer ${token}`, "platform", now()));
        await refused(house.authenticate(`Bearer ${token}`, "registry", now()));
        await refused(exchange(token));
        await refused(exchange(token, { identity }));
      }
    }
    const request = { identity, audiences: [house.baseUrl], ttlMs: 60_000, nowMs: now() };
    await assert.rejects(house.tokens.mint({ ...request, type: "access", webhook }), TypeError);
    await assert.rejects(house.tokens.mint({ ...request, type: "webhook" }), TypeError);
  });

  test("forged tokens, and tokens of unknown, retired and foreign keys are refused", async () => {
    const { token } = await exchange(await issuer.sign(claims()));
    const read = (text: string) => house.tokens.verify(text, house.baseUrl, now());
    await read(token);
    const [header = "", body = "", signature = ""] = token.split(".");
    const parsed = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, unknown>;
    for (const changes of [
      { alg: "none" },
      { kid: "unknown" },
      { kid: undefined },
      { typ: "JWT" },
      { crit: ["exp"] },
    ]) {
      await refused(read(`${encode({ ...parsed, ...changes })}.${body}.${signature}`));
    }
    const { keys } = await house.keyring.jwks(now());
    const input = `${encode({ ...parsed, alg: "HS256" })}.${body}`;
    await refused(read(`${input}.${createHmac("sha256", JSON.stringify(keys[0])).update(input).digest("base64url")}`));
    await refused(
      read(
        await issuer.sign(
          { ...claims(), iss: house.baseUrl, sub: identity, jti: "x" },
          { typ: "at+jwt", kid: parsed["kid"] },
        ),
      ),
    );
    await refused(read(`${token}=`));
    await house.rotate();
    await read(token);
    assert.equal((await house.keyring.jwks(now())).keys.length, 2);
    assert.equal((await exchange(token)).token.split(".")[0], header, "a key is published before it signs");
    house.clock.nowMs += 3 * 60_000;
    const newer = await exchange(token);
    assert.notEqual(newer.token.split(".")[0], header);
    house.clock.nowMs += 3 * 3_600_000;
    assert.equal((await house.keyring.jwks(now())).keys.length, 1);
    await refused(read(token));
  });

  test("a token of another installation is refused, and so is one of a deleted identity", async () => {
    const other = await openAccess();
    try {
      const foreign = await other.tokens.mint({
        type: "access",
        identity,
        audiences: [house.baseUrl],
        ttlMs: 60_000,
        nowMs: now(),
      });
      await refused(house.authenticate(`Bearer ${foreign.token}`, "platform", now()));
    } finally {
      await other.close();
    }
    const { token, refreshToken } = await exchange(await issuer.sign(claims()));
    await house.authenticate(`Bearer ${token}`, "platform", now());
    await house.db.deleteFrom("identities").where("uid", "=", identity).execute();
    await refused(house.authenticate(`Bearer ${token}`, "platform", now()));
    await refused(exchange(token));
    await refused(house.exchanger.refresh({ bearer: refreshToken, audiences: [] }, house.data()));
  });

  test("an Authorization header without exactly one bearer token is refused", async () => {
    const { token } = await exchange(await issuer.sign(claims()));
    for (const header of [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      `Basic ${token}`,
      token,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer ${token} x`,
      `Bearer\t${token}`,
    ]) {
      await assert.rejects(house.authenticate(header, "platform", now()), { code: Code.Unauthenticated });
    }
    await house.authenticate(`bearer ${token}`, "platform", now());
  });
});
