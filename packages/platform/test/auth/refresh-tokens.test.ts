import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, refused, saidExpired } from "../../../server/test/support/attacks.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { jsonOf } from "../../../server/test/support/json-of.ts";

// A stolen refresh token, used by the thief and by its owner: the second use revokes the family, in either order, and
// no other family.
let house: AccessHouse;
let issuer: Issuer;
let identity: string;
const { claims, exchange, matching } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
  issuer = await openIssuer();
});
after(async () => {
  await issuer.close();
  await house.close();
});
beforeEach(async () => {
  await house.db.deleteFrom("identities").execute();
  await house.db.deleteFrom("refresh_tokens").execute();
  identity = await house.addIdentity(matching("robot"));
});

const first = async (): Promise<string> => (await exchange(await issuer.sign(claims()))).refreshToken;
const refresh = async (bearer: string) => house.exchanger.refresh({ bearer, audiences: [] }, house.data());
const kept = async (): Promise<number> => (await house.db.selectFrom("refresh_tokens").select("hash").execute()).length;

test("of concurrent uses of one refresh token at most one succeeds; the next use of the same token revokes the family", async () => {
  for (let round = 0; round < 10; round += 1) {
    const token = await first();
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => refresh(token)));
    const winners = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.refreshToken] : []));
    assert.ok(winners.length <= 1, `${winners.length} won`);
    await refused(refresh(token));
    for (const winner of winners) await refused(refresh(winner));
    assert.equal(await kept(), 0, "nothing of the family is left");
  }
});

test("the reuse of an old refresh token, however old, ends all its successors, at the registry's token endpoint too, and no other family", async () => {
  const [other, stolen] = [await first(), await first()];
  let newest = stolen;
  for (let times = 0; times < 4; times += 1) newest = (await refresh(newest)).refreshToken;
  await refused(refresh(stolen));
  await refused(refresh(newest));
  assert.equal((await refresh(other)).refreshToken.length, other.length);
  const again = await first();
  const next = (await refresh(again)).refreshToken;
  await refused(house.refreshTokens.read(again, house.data()));
  await refused(house.refreshTokens.read(next, house.data()));
});

test("access tokens stay valid for their hour when the family ends, and no longer; with the identity all end immediately", async () => {
  const token = await first();
  const traded = await refresh(token);
  const other = await first();
  await refused(refresh(token));
  const who = (bearer: string) => house.authenticate(`Bearer ${bearer}`, "platform", house.clock.nowMs);
  assert.equal((await who(traded.token)).identity, identity);
  const nowMs = house.clock.nowMs;
  assert.ok(traded.expiresAtMs - nowMs <= 3_600_000);
  house.clock.nowMs = traded.expiresAtMs;
  await saidExpired(who(traded.token), traded.expiresAtMs);
  house.clock.nowMs = nowMs;
  await house.db.deleteFrom("identities").where("uid", "=", identity).execute();
  await refused(who(traded.token));
  await refused(refresh(other));
  await refused(house.refreshTokens.read(other, house.data()));
});

test("an invalid request, or a clock that is behind, uses no refresh token up; an expired one revokes nothing", async () => {
  const token = await first();
  for (const wish of [{ audiences: ["https://else.where"] }, { capabilities: ["CAP_NOTHING"] }, { scopes: ["x"] }]) {
    await assert.rejects(house.exchanger.refresh({ bearer: token, audiences: [], ...wish }, house.data()), { code: 3 });
  }
  house.clock.nowMs -= 120_000;
  const next = (await refresh(token)).refreshToken;
  house.clock.nowMs += 120_000;
  const last = await refresh(next);
  const nowMs = house.clock.nowMs;
  house.clock.nowMs = last.refreshExpiresAtMs;
  await refused(refresh(last.refreshToken));
  house.clock.nowMs = nowMs;
  await refresh(last.refreshToken);
});

test("deleting an identity through the API deletes its refresh tokens", async (t) => {
  const server = await startInstallation(t, { MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  const { organization } = server.bootstrap;
  const { uid } = await server.api("POST", `/iam/v2/identities/${organization.uid}`, {
    name: "ci",
    claimMatch: { issuer: issuer.url, subject: "robot" },
  });
  const now = Math.floor(Date.now() / 1000);
  const external = await issuer.sign({
    iss: issuer.url,
    sub: "robot",
    aud: server.bootstrap.baseUrl,
    iat: now,
    exp: now + 300,
  });
  const { refreshToken } = (await server.ask("GET", "/sts/exchange", { token: external })).json;
  const pair = jsonOf<{ refreshToken: { token: string } }>(
    await server.ask("GET", "/sts/exchange_refresh_token", { token: refreshToken }),
  );
  const newer = pair.refreshToken.token;
  assert.equal((await server.ask("GET", "/token", { basic: `any:${newer}` })).status, 200);
  await server.api("DELETE", `/iam/v2/identities/${uid}`);
  for (const token of [refreshToken, newer]) {
    assert.equal((await server.ask("GET", "/sts/exchange_refresh_token", { token })).status, 401);
    assert.equal((await server.ask("GET", "/token", { basic: `any:${token}` })).status, 401);
  }
});
