import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import { openBrowser } from "../../../server/test/support/browser.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import { addProvider, CLIENT } from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// A provider, or an attacker in its place, that answers any ID token for the code.
const LANDING = "http://127.0.0.1:49152/callback";
let platform: Platform;
let issuer: Issuer;
let idp: string;
let answer: (nonce: string) => Promise<string>;
let seen: { form: URLSearchParams; authorization: string | undefined } | undefined;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  discover({});
  let nonce = "";
  issuer.routes.set("/token", (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    request
      .setEncoding("utf8")
      .on("data", (text: string) => {
        body += text;
      })
      .on("end", () => {
        seen = { form: new URLSearchParams(body), authorization: request.headers.authorization };
        nonce = seen.form.get("code") ?? "";
        // The code is the nonce, the only value of the sign-in that the provider knows when it issues the code.
        void answer(nonce).then((token) =>
          response
            .setHeader("content-type", "application/json")
            .end(JSON.stringify({ access_token: "a", token_type: "Bearer", id_token: token })),
        );
      });
  });
  idp = await addProvider(platform, { url: issuer.url, register: () => {} });
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

function discover(change: object): void {
  issuer.routes.set(
    "/.well-known/openid-configuration",
    (_request, response) =>
      void response.setHeader("content-type", "application/json").end(
        JSON.stringify({
          issuer: issuer.url,
          jwks_uri: `${issuer.url}/jwks`,
          authorization_endpoint: `${issuer.url}/auth`,
          token_endpoint: `${issuer.url}/token`,
          ...change,
        }),
      ),
  );
}

const nowS = (): number => Math.floor(Date.now() / 1000);
const claims = (nonce: string, change: object = {}): Record<string, unknown> => ({
  iss: issuer.url,
  sub: "ada",
  aud: CLIENT.id,
  iat: nowS(),
  exp: nowS() + 600,
  nonce,
  ...change,
});
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Signs in with the token that `answer` gives. Returns the result that the client gets. */
async function attempt(): Promise<URLSearchParams> {
  const browser = openBrowser();
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_challenge: "A".repeat(43),
    code_challenge_method: "S256",
    state: "xyz",
    identity_provider: idp,
  });
  const { location } = await browser.open(`${platform.url}/oauth/authorize?${query}`, issuer.url);
  const asked = new URL(location).searchParams;
  assert.deepEqual(
    [
      asked.get("response_type"),
      asked.get("client_id"),
      asked.get("redirect_uri"),
      asked.get("scope"),
      asked.get("code_challenge_method"),
    ],
    ["code", CLIENT.id, `${platform.url}/oauth/callback/${idp}`, "openid email profile", "S256"],
  );
  const back = new URLSearchParams({ code: asked.get("nonce") ?? "", state: asked.get("state") ?? "" });
  const landed = await browser.open(`${platform.url}/oauth/callback/${idp}?${back}`, LANDING);
  const verifier = seen?.form.get("code_verifier") ?? "";
  assert.equal(createHash("sha256").update(verifier).digest("base64url"), asked.get("code_challenge"));
  return new URL(landed.location).searchParams;
}

async function outcome(given: (nonce: string) => Promise<string>): Promise<string> {
  answer = given;
  const result = await attempt();
  return result.has("code") ? "signed in" : `${result.get("error")}`;
}

test("a valid token signs in, with a clock skew of up to a minute", async () => {
  assert.equal(await outcome((nonce) => issuer.sign(claims(nonce))), "signed in");
  assert.match(seen?.authorization ?? "", /^Basic /);
  for (const change of [
    { exp: nowS() - 40 },
    { nbf: nowS() + 40 },
    { aud: [CLIENT.id] },
    { aud: [CLIENT.id, "other"], azp: CLIENT.id },
    { azp: CLIENT.id },
    // The authorized party is optional, also of several audiences.
    { aud: [CLIENT.id, "other"] },
    { aud: ["other", CLIENT.id] },
  ]) {
    assert.equal(await outcome((nonce) => issuer.sign(claims(nonce, change))), "signed in", JSON.stringify(change));
  }
});

test("a token with an invalid claim does not sign in", async () => {
  for (const change of [
    { iss: `${issuer.url}/` },
    { iss: "https://other.example.com" },
    { iss: undefined },
    { aud: "other" },
    { aud: `${CLIENT.id}2` },
    { aud: CLIENT.id.toUpperCase() },
    { aud: [] },
    { aud: undefined },
    { aud: ["other"] },
    { aud: ["another", "other"] },
    { aud: [CLIENT.id, "other"], azp: "other" },
    { aud: [CLIENT.id, "other"], azp: null },
    { aud: [CLIENT.id, "other"], nonce: "another" },
    { aud: [CLIENT.id, "other"], nonce: undefined },
    { aud: [CLIENT.id, "other"], exp: nowS() - 120 },
    { aud: [CLIENT.id, "other"], iss: "https://other.example.com" },
    { azp: "other" },
    { exp: nowS() - 120 },
    { exp: undefined },
    { exp: "2100-01-01" },
    { iat: undefined },
    { iat: "now" },
    { nbf: nowS() + 120 },
    { nonce: "another" },
    { nonce: undefined },
    { nonce: "" },
    { sub: undefined },
    { sub: "" },
    { sub: 7 },
    { sub: { admin: true } },
    { sub: "a".repeat(256) },
    { sub: "a\0b" },
  ])
    assert.equal(await outcome((nonce) => issuer.sign(claims(nonce, change))), "server_error", JSON.stringify(change));
});

test("a token that is not signed with the provider's published key does not sign in", async () => {
  const other = newKey("other");
  const pem = issuer.key.publicKey.export({ type: "spki", format: "pem" });
  const mac = (nonce: string, secret: string | Buffer): string => {
    const signed = `${encoded({ alg: "HS256", kid: issuer.key.kid })}.${encoded(claims(nonce))}`;
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
  };
  for (const [what, forged] of Object.entries<(nonce: string) => Promise<string>>({
    "no algorithm": async (nonce) => `${encoded({ alg: "none" })}.${encoded(claims(nonce))}.`,
    "the public key as a secret": async (nonce) => mac(nonce, pem),
    "the client's secret": async (nonce) => mac(nonce, CLIENT.secret),
    "another key under its name": (nonce) => issuer.sign(claims(nonce), {}, other.privateKey),
    "an unknown name": (nonce) => issuer.sign(claims(nonce), { kid: "other" }, other.privateKey),
    "a key that it brings along": (nonce) =>
      issuer.sign(claims(nonce), { kid: "other", jwk: other.jwk }, other.privateKey),
    "a place where its keys are": (nonce) =>
      issuer.sign(claims(nonce), { kid: "other", jku: `${issuer.url}/jwks` }, other.privateKey),
    "a changed claim": async (nonce) => {
      const [header, , signature] = (await issuer.sign(claims(nonce))).split(".");
      return `${header}.${encoded(claims(nonce, { sub: "root" }))}.${signature}`;
    },
    "something else": async () => "token",
  }))
    assert.equal(await outcome(forged), "server_error", what);
});

test("the provider's discovery document cannot make an unsigned or weakly signed token valid", async () => {
  discover({ id_token_signing_alg_values_supported: ["none", "HS256", "RS256"] });
  const mac = (nonce: string): string => {
    const signed = `${encoded({ alg: "HS256" })}.${encoded(claims(nonce))}`;
    return `${signed}.${createHmac("sha256", CLIENT.secret).update(signed).digest("base64url")}`;
  };
  platform.clock.offsetMs += 301_000;
  assert.equal(
    await outcome(async (nonce) => `${encoded({ alg: "none" })}.${encoded(claims(nonce, { exp: nowS() + 3600 }))}.`),
    "server_error",
  );
  assert.equal(await outcome(async (nonce) => mac(nonce)), "server_error");
  platform.clock.offsetMs = 0;
  discover({});
});

test("redirects from the provider's endpoints are not followed", async () => {
  for (const change of [
    { authorization_endpoint: "javascript:alert(1)" },
    { authorization_endpoint: undefined },
    { token_endpoint: "file:///etc/passwd" },
    { token_endpoint: undefined },
    { jwks_uri: "ftp://example.com" },
  ]) {
    discover(change);
    platform.clock.offsetMs += 301_000;
    const query = new URLSearchParams({
      response_type: "code",
      client_id: "moorage-cli",
      redirect_uri: LANDING,
      code_challenge: "A".repeat(43),
      code_challenge_method: "S256",
      identity_provider: idp,
    });
    const browser = openBrowser();
    answer = (nonce) => issuer.sign(claims(nonce, { exp: nowS() + 7200 }));
    const first = await browser.open(`${platform.url}/oauth/authorize?${query}`, issuer.url).then(
      (shown) => shown,
      () => undefined,
    );
    const { searchParams } = new URL(first?.location || `${LANDING}?error=server_error`);
    const last = searchParams.has("nonce")
      ? new URL(
          (
            await browser.open(
              `${platform.url}/oauth/callback/${idp}?${new URLSearchParams({ code: searchParams.get("nonce") ?? "", state: searchParams.get("state") ?? "" })}`,
              LANDING,
            )
          ).location,
        ).searchParams
      : searchParams;
    assert.equal(last.get("error"), "server_error", JSON.stringify(change));
  }
  platform.clock.offsetMs = 0;
});
