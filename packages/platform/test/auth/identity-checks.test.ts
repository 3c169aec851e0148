import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { IdentitiesService } from "@moorage/api";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";

// Whoever makes an identity learns why tokens of its issuer cannot be verified, as does who comes with one.
const DISCOVERY = "/.well-known/openid-configuration";
let platform: Platform;
let token: string;
let issuer: Issuer;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  token = await platform.token();
});
after(() => platform.close());
beforeEach(async () => {
  issuer = await openIssuer();
});
afterEach(() => issuer.close());

let made = 0;
async function identity(how: object): Promise<string> {
  const body = { name: `ci-${(made += 1)}`, ...how };
  return (await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, body)).uid;
}

const byClaims = (iss: object = { issuer: issuer.url }): Promise<string> =>
  identity({ claimMatch: { ...iss, subject: "robot" } });

/** What REST and gRPC say, which is the same. */
async function checked(uid: string): Promise<Record<string, unknown>> {
  const { status, body } = await both(platform, IdentitiesService.method.checkIdentity, { uid }, token);
  assert.equal(status, 200);
  return body;
}

test("an issuer whose keys can be read is ready, and is asked once", async () => {
  assert.deepEqual(await checked(await byClaims()), {
    status: "STATUS_READY",
    reason: "",
    message: "the keys of its issuer are known",
  });
  assert.deepEqual(issuer.requests, [DISCOVERY, "/jwks"]);
});

test("an issuer that answers wrongly is not ready, with its fault", async () => {
  const document = (fields: object): string => JSON.stringify({ issuer: issuer.url, ...fields });
  const faults: [reason: string, message: string, path: string, status: number, body: string][] = [
    ["REFUSED", "the answer is a redirect", DISCOVERY, 302, ""],
    ["REFUSED", "its discovery document names another issuer", DISCOVERY, 200, `{"issuer":"https://other.example"}`],
    ["REFUSED", "its discovery document names no keys", DISCOVERY, 200, document({})],
    ["REFUSED", "it answers 404, not a document", "/jwks", 404, ""],
    ["REFUSED", "it does not answer with JSON", "/jwks", 200, "<html>"],
    ["UNREACHABLE", "it answers with an error", DISCOVERY, 503, ""],
    ["NO_KEYS", "its key set holds no key that can verify tokens", "/jwks", 200, `{"keys":[]}`],
  ];
  for (const [reason, message, path, status, body] of faults) {
    const own = await openIssuer();
    try {
      own.routes.set(path, (_request, response) =>
        response.writeHead(status, { location: "/x" }).end(body.replaceAll(issuer.url, own.url)),
      );
      assert.deepEqual(await checked(await byClaims({ issuer: own.url })), {
        status: "STATUS_NOT_READY",
        reason,
        message: `the issuer ${own.url} cannot be used: ${message}`,
      });
    } finally {
      await own.close();
    }
  }
});

test("an issuer that is gone is not ready", async () => {
  const uid = await byClaims();
  await issuer.close();
  const { status, reason, message } = await checked(uid);
  assert.deepEqual([status, reason], ["STATUS_NOT_READY", "UNREACHABLE"]);
  assert.equal(message, `the issuer ${issuer.url} cannot be used: it refuses connections`);
});

test("identities without one issuer to ask say so, and own keys are known or have ended", async () => {
  const { jwk } = issuer.key;
  const keys = (expirationTime: string): Promise<string> =>
    identity({
      staticKeys: { issuer: "offline", subject: "robot", issuerKeys: JSON.stringify({ keys: [jwk] }), expirationTime },
    });
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const expected: [uid: string, status: string, reason: string][] = [
    [await byClaims({ issuerPattern: "https://ci[0-9].example.com" }), "STATUS_NOT_CHECKED", "PATTERN"],
    [await identity({}), "STATUS_NOT_CHECKED", "NO_ISSUER"],
    [await keys(soon), "STATUS_READY", ""],
  ];
  for (const [uid, status, reason] of expected) {
    const answer = await checked(uid);
    assert.deepEqual([answer["status"], answer["reason"]], [status, reason]);
    assert.notEqual(answer["message"], "");
  }
  assert.deepEqual(issuer.requests, []);
});

test("an identity that the caller does not see is not found, and its issuer not asked", async () => {
  const uid = await byClaims();
  const stranger = await platform.token(await platform.identity(platform.organization));
  const { status } = await platform.call("POST", `/iam/v2/identities/${uid}:checkIdentity`, { token: stranger });
  assert.equal(status, 404);
  assert.deepEqual(issuer.requests, []);
});
