import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { Code, type MoorageError } from "../../../kernel/src/errors.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, saying } from "../../../server/test/support/attacks.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";

// One test for each attack: it begins with a token that is accepted, changes one thing, and expects a rejection.
let house: AccessHouse;
let issuer: Issuer;
const { claims, exchange, matching, unaccepted } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  await house.addIdentity(matching("robot"));
});
afterEach(() => issuer.close());

describe("patterns", () => {
  test("must match the whole value", async () => {
    const uid = await house.addIdentity({
      case: "claimMatch",
      value: {
        iss: { case: "issuerPattern", value: issuer.url.replaceAll(".", "\\.") },
        sub: { case: "subjectPattern", value: "repo:acme/app|repo:acme/api" },
        aud: { case: "audiencePattern", value: "https://moorage\\.example" },
        claims: { env: "prod", run: "7", safe: "true" },
        claimPatterns: { ref: "(?m)refs/heads/main$" },
      },
    });
    const good = {
      sub: "repo:acme/app",
      aud: "https://moorage.example",
      env: "prod",
      run: 7,
      safe: true,
      ref: "refs/heads/main",
    };
    await exchange(await issuer.sign(claims(good)), { identity: uid });
    // Of a list one element has to match, whole.
    await exchange(await issuer.sign(claims({ ...good, ref: ["refs/heads/x", "refs/heads/main"] })), { identity: uid });
    for (const changes of [
      { sub: "repo:acme/app2" },
      { sub: "xrepo:acme/api" },
      { sub: "repo:acme/apprepo:acme/api" },
      { sub: "repo:acme/app\n" },
      { sub: "\nrepo:acme/app" },
      { sub: ["repo:acme/app"] },
      { aud: "https://moorage.example.evil" },
      { aud: "https://mooragexexample" },
      { aud: house.baseUrl },
      { ref: "refs/heads/main\nx" },
      { ref: "x\nrefs/heads/main" },
      { ref: "refs/heads/main-2" },
      { ref: ["refs/heads/main-2", "xrefs/heads/main"] },
      { ref: [] },
      { ref: [["refs/heads/main"]] },
      { ref: undefined },
      { env: "production" },
      { env: ["production"] },
      { run: "07" },
      { safe: { toString: "true" } },
    ]) {
      const [[claim, value] = []] = Object.entries(changes);
      const message = `identity ${uid} does not accept claim ${claim}, which is ${JSON.stringify(value) ?? "absent"}`;
      await saying(exchange(await issuer.sign(claims({ ...good, ...changes })), { identity: uid }), message);
    }
  });

  test("an identity with patterns must be named by the request", async () => {
    const anything = {
      iss: { case: "issuerPattern" as const, value: ".*" },
      sub: { case: "subjectPattern" as const, value: ".*" },
    };
    await house.addIdentity({ case: "claimMatch", value: anything });
    await unaccepted(exchange(await issuer.sign(claims({ sub: "anybody" }))));
    await unaccepted(exchange(await issuer.sign(claims({ iss: "", sub: "" }))), { iss: "" });
  });

  test("an issuer or subject of more than 512 characters is rejected before a pattern is matched or an issuer asked", async () => {
    const uid = await house.addIdentity({
      case: "claimMatch",
      value: { iss: { case: "issuerPattern", value: ".*" }, sub: { case: "subjectPattern", value: ".*" } },
    });
    await exchange(await issuer.sign(claims({ sub: "s".repeat(512) })), { identity: uid });
    const asked = issuer.requests.length;
    const long = `${issuer.url}/${"x".repeat(512)}`;
    for (const [changes, claim] of [
      [{ iss: long }, "iss"],
      [{ sub: "s".repeat(513) }, "sub"],
      [{ sub: "s".repeat(11_000) }, "sub"],
    ] as const) {
      for (const identity of [uid, ""]) {
        await assert.rejects(exchange(await issuer.sign(claims(changes)), { identity }), (error: Error) => {
          assert.match(error.message, new RegExp(`: claim ${claim} is longer than 512 characters: `));
          return true;
        });
      }
    }
    assert.equal(issuer.requests.length, asked);
  });

  // 2,400 steps for each of 500 characters: 1.2 million for a token, which anybody can make without a key.
  const slow = "x{0,800}".repeat(3) + "y";
  const plant = (organization: string): Promise<string> =>
    house.addIdentity(
      {
        case: "claimMatch",
        value: {
          iss: { case: "issuerPattern", value: `${slow}|${issuer.url.replaceAll(".", "\\.")}` },
          sub: { case: "subjectPattern", value: ".*" },
        },
      },
      organization,
    );
  const forged = (): Promise<string> =>
    issuer.sign(claims({ iss: `https://${Math.random()}.example/${"x".repeat(470)}` }));
  /** Sends tokens of made-up issuers until the organization's budget is used up. */
  const exhaust = async (identity: string): Promise<void> => {
    for (let count = 0; count < 60; count += 1) {
      const error = await exchange(await forged(), { identity }).then(
        () => undefined,
        (found: MoorageError) => found,
      );
      if (error?.code === Code.Unauthenticated) continue;
      assert.equal(error?.code, Code.ResourceExhausted);
      assert.ok((error?.details.retryAfterMs ?? 0) > 0);
      return;
    }
    assert.fail("the patterns of one organization cost as much as anybody likes");
  };

  test("slow issuer patterns use up the budget of their organization alone", async () => {
    const [mine, other] = [newUid(""), newUid("")];
    await exhaust(await plant(mine));
    const theirs = await house.addIdentity(
      {
        case: "claimMatch",
        value: {
          iss: { case: "issuerPattern", value: "http://127.*" },
          sub: { case: "subjectPattern", value: "rob.*" },
        },
      },
      other,
    );
    await exchange(await issuer.sign(claims()), { identity: theirs });
  });

  test("signed tokens of an issuer whose keys are known are accepted when unsigned ones have used up the budget", async () => {
    const mine = newUid("");
    const identity = await plant(mine);
    await exchange(await issuer.sign(claims()), { identity });
    await exhaust(identity);
    await exchange(await issuer.sign(claims()), { identity });
    // For a known issuer the signature is verified first: forged tokens cost nothing.
    const stranger = newKey("one");
    for (let count = 0; count < 30; count += 1) {
      const bearer = await issuer.sign(claims(), {}, stranger.privateKey);
      await unaccepted(exchange(bearer, { identity }), { identity });
    }
  });

  test("one signed token costs no more than a bounded number of steps, however many audiences it has", async () => {
    const identity = await house.addIdentity({
      case: "claimMatch",
      value: {
        iss: { case: "issuer", value: issuer.url },
        sub: { case: "subject", value: "robot" },
        aud: { case: "audiencePattern", value: slow },
      },
    });
    const aud = Array.from({ length: 1_000 }, (_, at) => `xxxxxx${at}`);
    await assert.rejects(exchange(await issuer.sign(claims({ aud })), { identity }), {
      code: Code.ResourceExhausted,
      message: "Resource exhausted: the token's claims are too long for the identity's patterns",
    });
  });
});
