import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { type AccessHouse, openAccess } from "../support/access.ts";
import { attackOn, saying } from "../support/attacks.ts";
import { type Issuer, openIssuer } from "../support/issuer.ts";

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
      { ref: ["refs/heads/main"] },
      { ref: undefined },
      { env: "production" },
      { env: ["prod"] },
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
});
