import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SignJWT } from "jose";
import { newKey } from "../../../server/test/support/issuer.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Static keys always end.
const YEAR_MS = 365 * 86_400_000;
let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform.close());

const endOf = (identity: Json): number =>
  Date.parse(String((identity["staticKeys"] as { expirationTime?: string }).expirationTime));

test("sets of SPIFFE, and with encryption keys or one kid for several keys, are accepted", async () => {
  const [one, two] = [newKey("k"), newKey("k")];
  const keys = [
    { ...newKey("x").jwk, use: "x509-svid" },
    { ...newKey("k").jwk, use: "enc" },
    { ...one.jwk, use: "jwt-svid" },
    { ...two.jwk, use: "sig" },
  ];
  const issuerKeys = JSON.stringify({ keys, spiffe_sequence: 1, spiffe_refresh_hint: 300 });
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, {
    name: "workload",
    staticKeys: { issuer: "spiffe", subject: "spiffe://acme/ci", issuerKeys, audiences: ["moorage"] },
  });
  for (const [key, status] of [
    [one, 200],
    [two, 200],
    [newKey("k"), 401],
  ] as const) {
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .setIssuer("spiffe")
      .setSubject("spiffe://acme/ci")
      .setAudience("moorage")
      .setIssuedAt(platform.clock.nowMs() / 1000)
      .setExpirationTime(platform.clock.nowMs() / 1000 + 300)
      .sign(key.privateKey);
    const answer = await platform.call("POST", `/sts/exchange?identity=${uid}`, { token });
    assert.equal(answer.status, status, answer.text);
  }
});

test("static keys without an expiration end 365 days after they were set", async () => {
  const keys = { issuer: "offline", subject: "robot", issuerKeys: JSON.stringify({ keys: [newKey("k").jwk] }) };
  const path = `/iam/v2/identities/${platform.organization}`;
  const made = await platform.ok("POST", path, { name: "robot", staticKeys: keys });
  assert.equal(endOf(made), Date.parse(made.createTime) + YEAR_MS);
  const said = new Date(platform.clock.nowMs() + 5000).toISOString();
  const short = await platform.ok("POST", path, { name: "short", staticKeys: { ...keys, expirationTime: said } });
  assert.equal(endOf(short), Date.parse(said));

  platform.clock.offsetMs += 60_000;
  const renamed = await platform.ok("PATCH", `/iam/v2/identities/${made.uid}`, { description: "renamed" });
  assert.equal(endOf(renamed), endOf(made), "another change moves no end");
  const subject = await platform.ok("PATCH", `/iam/v2/identities/${made.uid}`, { staticKeys: { subject: "other" } });
  assert.equal(endOf(subject), endOf(made), "a leaf beside it moves no end");
  const again = await platform.ok("PATCH", `/iam/v2/identities/${made.uid}?updateMask=staticKeys`, {
    staticKeys: { ...keys, subject: "other" },
  });
  assert.equal(endOf(again), Date.parse(again.updateTime) + YEAR_MS);
});
