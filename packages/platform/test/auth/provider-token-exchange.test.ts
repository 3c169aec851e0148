import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { SecurityTokenService } from "@moorage/api";
import { decodeJwt, SignJWT } from "jose";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { openBrowser } from "../../../server/test/support/browser.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Issuer, newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import {
  CLIENT,
  openPeopleProvider,
  OTHER_CLIENT,
  type PeopleProvider,
} from "../../../server/test/support/people-provider.ts";
import { type Answer, type Json, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// Exchange of an ID token: it creates the identity of its person, for the provider that it was issued for and no other.
// Source: docs/contract.md, "Authentication"; OpenID Connect Core §3.1.3.7.
const REDIRECT = "http://127.0.0.1:9/callback";
let platform: Platform;
let real: PeopleProvider;
let issuer: Issuer;
let root: string;
let viewer: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  real = await openPeopleProvider();
  for (const { id } of [CLIENT, OTHER_CLIENT]) real.register(id, REDIRECT);
  issuer = await openIssuer();
  root = platform.organization;
  viewer = await platform.role("viewer");
});
after(async () => {
  await real.close();
  await issuer.close();
  await platform.close();
});

const newGroup = async (): Promise<string> => (await platform.group(root)).uid;
const provider = async (group: string, oidc: object = {}, fields: object = {}): Promise<string> =>
  (
    await platform.ok("POST", `/iam/v2/identityProviders/${group}`, {
      name: "login",
      oidc: { issuer: issuer.url, clientId: "moorage", ...oidc },
      ...fields,
    })
  ).uid;
const exchange = (to: string, bearer: string, query = ""): Promise<Answer> =>
  platform.call("GET", `/sts/exchange?identity_provider=${to}${query}`, { token: bearer });
const personIn = (token: unknown): string => String(decodeJwt(String(token)).sub);
const bindingsOf = async (identity: string): Promise<Json[]> =>
  rows(platform.ok("GET", `/iam/v2/roleBindings?identity=${identity}`), "roleBindings");
/** What the server answers an identity about itself. */
const whoIs = async (identity: string): Promise<Json> =>
  (await platform.call("GET", `/iam/v2/identities/${identity}`, { token: await platform.token(identity) })).body;

/** The claims of an ID token, valid for five minutes. */
function claims(changes: Record<string, unknown> = {}): Record<string, unknown> {
  const now = Math.floor(platform.clock.nowMs() / 1000);
  return { iss: issuer.url, aud: "moorage", sub: "ann", iat: now, exp: now + 300, ...changes };
}
const signed = (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> =>
  issuer.sign(claims(changes), header);
async function signIn(
  to: string,
  changes: Record<string, unknown> = {},
): Promise<{ token: string; refreshToken: string; identity: string }> {
  const { status, text, body } = await exchange(to, await signed(changes));
  assert.equal(status, 200, text);
  return {
    token: String(body["token"]),
    refreshToken: String(body["refreshToken"]),
    identity: personIn(body["token"]),
  };
}

/** An ID token of the real provider, from a sign-in on its own pages. */
async function realToken(login: string, client = CLIENT): Promise<string> {
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: REDIRECT,
    response_type: "code",
    scope: "openid email profile groups",
    nonce: "n",
  });
  const { location } = await openBrowser().signIn(`${real.url}/auth?${query}`, login, REDIRECT);
  const code = new URL(location).searchParams.get("code") ?? "";
  const body = new URLSearchParams({ grant_type: "authorization_code", code, redirect_uri: REDIRECT });
  const headers = {
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(client.id)}:${encodeURIComponent(client.secret)}`).toString("base64")}`,
  };
  const response = await fetch(`${real.url}/token`, {
    method: "POST",
    headers,
    body,
    signal: AbortSignal.timeout(60_000),
  });
  return ((await response.json()) as { id_token: string }).id_token;
}

describe("with a real provider", () => {
  test("the first exchange creates an identity with the default role, and later ones find it, by every handler", async () => {
    const group = await newGroup();
    const to = await provider(
      group,
      { issuer: real.url, clientId: CLIENT.id, groupsClaim: "groups" },
      { defaultRole: viewer },
    );
    real.claims = { name: "Ann Lee", email: "ann@example.com", email_verified: true, groups: ["engineers"] };
    const bearer = await realToken("ann");
    const first = await exchange(to, bearer);
    assert.equal(first.status, 200, first.text);
    const identity = personIn(first.body["token"]);
    assert.match(identity, /^[0-9a-f]{40}$/, "people stand at the root");
    const { createTime, lastSeenTime, ...person } = await whoIs(identity);
    assert.deepEqual(
      [person.name, person["email"], person["emailUnverified"], person["claimMatch"]],
      [
        "ann lee",
        "ann@example.com",
        "",
        { issuer: real.url, subject: "ann", audience: CLIENT.id, claims: {}, claimPatterns: {} },
      ],
    );
    assert.equal(lastSeenTime, createTime);
    const [binding, ...others] = (await bindingsOf(identity)) as (Json & Record<"group" | "role", Json>)[];
    assert.deepEqual([binding?.group.uid, binding?.role.uid, others], [group, viewer, []]);
    assert.deepEqual(decodeJwt(String(first.body["token"]))["groups"], ["engineers"]);

    platform.clock.offsetMs += 60_000;
    const form = new URLSearchParams({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      subject_token: bearer,
      identity_provider: to,
    });
    const standard = await platform.call("POST", "/sts/token", {
      raw: form.toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    const { message } = await platform.grpc.call(
      SecurityTokenService.method.exchange,
      { aud: [platform.bootstrap.baseUrl], identityProvider: to },
      bearer,
    );
    const unnamed = await platform.call("GET", "/sts/exchange", { token: bearer });
    const named = await platform.call("GET", `/sts/exchange?identity=${identity}`, { token: bearer });
    const tokens = [standard.body["access_token"], message?.token, unnamed.body["token"], named.body["token"]];
    assert.deepEqual(tokens.map(personIn), [identity, identity, identity, identity]);
    assert.deepEqual(
      tokens.map((token) => decodeJwt(String(token))["groups"]),
      tokens.map(() => ["engineers"]),
    );
    assert.ok(Date.parse(String((await whoIs(identity))["lastSeenTime"])) >= Date.parse(createTime) + 60_000);
    assert.equal((await bindingsOf(identity)).length, 1);
  });

  test("two organizations with one issuer: a token counts for the provider it was issued for, and each has an identity of its own for the person", async () => {
    const [ours, theirs] = [
      await provider(await newGroup(), { issuer: real.url, clientId: CLIENT.id }),
      await provider(await newGroup(), { issuer: real.url, clientId: OTHER_CLIENT.id }),
    ];
    real.claims = {};
    const [one, two] = [await realToken("bob"), await realToken("bob", OTHER_CLIENT)];
    const [here, there] = [await exchange(ours, one), await exchange(theirs, two)];
    assert.deepEqual([here.status, there.status], [200, 200]);
    assert.notEqual(personIn(here.body["token"]), personIn(there.body["token"]));
    // The answer about another organization's provider is the same as about one that does not exist.
    const never = newUid(root);
    const words = async (to: string, bearer: string): Promise<string> => {
      const answer = await exchange(to, bearer);
      assert.equal(answer.status, 401, answer.text);
      return answer.text.replaceAll(to, "UID").replace(/"requestId":"[^"]*"/, "");
    };
    assert.equal(await words(theirs, one), await words(never, one));
    assert.equal(await words(ours, two), await words(never, two));
    for (const [token, owner] of [
      [one, here],
      [two, there],
    ] as const) {
      const unnamed = await platform.call("GET", "/sts/exchange", { token });
      assert.equal(
        personIn(unnamed.body["token"]),
        personIn(owner.body["token"]),
        "without a name the audience decides",
      );
    }
  });
});

const SUBJECTS = [undefined, "", 7, null, ["ann"], { ann: 1 }, "a".repeat(256), "a\0b", "\ud800"];

test("a rejection has a reason that reveals nothing of others, and creates no identity", async () => {
  const group = await newGroup();
  const to = await provider(group, {}, { defaultRole: viewer });
  const elsewhere = await provider(await newGroup(), { clientId: "another" });
  const stranger = newKey("one");
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const refused: [what: string, provider: string, bearer: string, reason: string][] = [
    ["no such provider", newUid(group), await signed(), "NOT_ACCEPTED"],
    ["no uid", "none", await signed(), "NOT_ACCEPTED"],
    ["a group", group, await signed(), "NOT_ACCEPTED"],
    ["another client's provider", elsewhere, await signed(), "NOT_ACCEPTED"],
    ["another issuer", to, await signed({ iss: "https://login.example.com" }), "NOT_ACCEPTED"],
    ["another spelling of the issuer", to, await signed({ iss: `${issuer.url}/` }), "NOT_ACCEPTED"],
    ["another audience", to, await signed({ aud: "another" }), "NOT_ACCEPTED"],
    ["another case", to, await signed({ aud: "Moorage" }), "NOT_ACCEPTED"],
    ["a part of the audience", to, await signed({ aud: "moorage-other" }), "NOT_ACCEPTED"],
    ["no audience", to, await signed({ aud: undefined }), "NOT_ACCEPTED"],
    ["our own audience", to, await signed({ aud: platform.bootstrap.baseUrl }), "NOT_ACCEPTED"],
    ["several audiences, none of them ours", to, await signed({ aud: ["other", "another"] }), "NOT_ACCEPTED"],
    ["somebody else authorized", to, await signed({ aud: ["moorage", "another"], azp: "another" }), "NOT_ACCEPTED"],
    ["somebody else authorized for us alone", to, await signed({ azp: "another" }), "NOT_ACCEPTED"],
    ["signed by a stranger", to, await issuer.sign(claims(), {}, stranger.privateKey), "NOT_ACCEPTED"],
    [
      "signed with the client's name",
      to,
      await new SignJWT(claims())
        .setProtectedHeader({ alg: "HS256", kid: "one" })
        .sign(Buffer.from("moorage".padEnd(32, "!"))),
      "NOT_ACCEPTED",
    ],
    ["an access token", to, await signed({}, { typ: "at+jwt" }), "NOT_ACCEPTED"],
    ["a logout token", to, await signed({}, { typ: "logout+jwt" }), "TOKEN_KIND"],
    ["a token bound to a key", to, await signed({ cnf: { jkt: "x" } }), "TOKEN_KIND"],
    [
      "a logout token of old",
      to,
      await signed({ events: { "http://schemas.openid.net/event/backchannel-logout": {} } }),
      "TOKEN_KIND",
    ],
    ["over", to, await signed({ exp: now - 1 }), "EXPIRED"],
    ["without an end", to, await signed({ exp: undefined }), "EXPIRED"],
    ["yet to come", to, await signed({ nbf: now + 3600 }), "NOT_YET_VALID"],
    ["made at no time", to, await signed({ iat: undefined }), "CLAIM"],
    ...(await Promise.all(
      SUBJECTS.map(async (sub): Promise<[string, string, string, string]> => [
        `the subject ${JSON.stringify(sub)?.slice(0, 20)}`,
        to,
        await signed({ sub }),
        "CLAIM",
      ]),
    )),
  ];
  for (const [what, uid, bearer, reason] of refused) {
    const answer = await exchange(uid, bearer);
    const info = answer.body.details.find(({ metadata }) => metadata !== undefined)?.metadata ?? {};
    assert.deepEqual(
      [answer.status, info["reason"], info["identityProvider"]],
      [401, reason, uid],
      `${what}: ${answer.text}`,
    );
    assert.ok(!answer.text.includes(bearer));
  }
  assert.equal((await exchange(to, await platform.token())).status, 401, "a token of ours");
  assert.equal((await exchange(to, await signed(), `&identity=${newUid("")}`)).status, 400, "both named");
  assert.deepEqual(
    (await rows(platform.ok("GET", `/iam/v2/roleBindings?group=${group}`), "roleBindings")).length,
    0,
    "nobody was made",
  );
  for (const azp of ["moorage", undefined])
    assert.equal((await exchange(to, await signed({ aud: ["moorage", "another"], azp }))).status, 200);
});

test("an issuer that cannot be reached is UNAVAILABLE, and is asked only for tokens issued for its own client", async () => {
  const gone = await openIssuer();
  const to = await provider(await newGroup(), { issuer: gone.url });
  assert.equal((await exchange(to, await gone.sign(claims({ iss: gone.url, aud: "another" })))).status, 401);
  assert.deepEqual(gone.requests, []);
  await gone.close();
  const answer = await exchange(to, await gone.sign(claims({ iss: gone.url })));
  assert.equal(answer.status, 503, answer.text);
});

test("the audit log has the reason of a rejection that the answer does not contain", async () => {
  // Only so many entries of one kind and address are written in a minute, and other tests have just caused some.
  platform.clock.offsetMs += 120_000;
  const to = await provider(await newGroup());
  assert.equal((await exchange(to, await signed({ aud: "another" }))).status, 401);
  const path = `/iam/v2/auditEntries?resource=${to}&method=sts.exchange`;
  // Rejections are written in batches, a moment later.
  const entry = await eventually(async () => (await rows(platform.ok("GET", path), "auditEntries"))[0]);
  assert.deepEqual(
    [entry["reason"], entry["act"], entry["identity"]],
    ["NOT_ACCEPTED: the token was not issued for the provider's client", { iss: issuer.url, sub: "ann" }, ""],
  );
});

test("an e-mail address counts only when the provider says that it is verified", async () => {
  const to = await provider(await newGroup());
  const addresses = async (changes: Record<string, unknown>): Promise<unknown[]> => {
    const { identity } = await signIn(to, changes);
    const { email, emailUnverified } = (await whoIs(identity)) as Json & Record<"email" | "emailUnverified", string>;
    return [email, emailUnverified];
  };
  assert.deepEqual(await addresses({ email: "ann@example.com", email_verified: true }), ["ann@example.com", ""]);
  assert.deepEqual(await addresses({}), ["ann@example.com", ""], "a token that says nothing changes nothing");
  for (const word of ["true", 1, {}, [true], false, null, undefined]) {
    assert.deepEqual(
      await addresses({ email: "ann@example.com", email_verified: word }),
      ["", "ann@example.com"],
      JSON.stringify(word),
    );
  }
  assert.deepEqual(await addresses({ sub: "bob", email: "no address", email_verified: true }), ["", ""]);
  assert.deepEqual(await addresses({ sub: "eve", email: ["ann@example.com"], email_verified: true }), ["", ""]);
});

test("people are distinguished by the claim that the provider's settings name", async () => {
  const to = await provider(await newGroup(), { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" });
  const ann = await signIn(to, { sub: "pairwise 1", oid: "ann" });
  assert.equal((await signIn(to, { sub: "pairwise 2", oid: "ann" })).identity, ann.identity);
  assert.notEqual((await signIn(to, { sub: "pairwise 1", oid: "bob" })).identity, ann.identity);
  const info = (await exchange(to, await signed({ sub: "ann" }))).body.details.find(
    ({ metadata }) => metadata !== undefined,
  )?.metadata;
  assert.deepEqual([info?.["reason"], info?.["claim"]], ["CLAIM", "oid"]);
  assert.equal(
    (await platform.call("GET", `/sts/exchange?identity=${ann.identity}`, { token: await signed({ sub: "ann" }) }))
      .status,
    401,
    "the id of one is no subject of another",
  );
});

test("the default role is given once: when removed, it does not come back", async () => {
  const group = await newGroup();
  const to = await provider(group, {}, { defaultRole: viewer });
  const { identity } = await signIn(to);
  const [binding] = await bindingsOf(identity);
  await platform.ok("DELETE", `/iam/v2/roleBindings/${binding?.uid}`);
  assert.equal((await signIn(to)).identity, identity);
  assert.deepEqual(await bindingsOf(identity), []);
});

test("concurrent first sign-ins create one identity with one binding", async () => {
  const group = await newGroup();
  const to = await provider(group, {}, { defaultRole: viewer });
  const bearer = await signed();
  const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(to, bearer)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
  assert.equal(new Set(answers.map(({ body }) => personIn(body["token"]))).size, 1);
  assert.equal((await rows(platform.ok("GET", `/iam/v2/roleBindings?group=${group}`), "roleBindings")).length, 1);
});

describe("when the provider is deleted or changed", () => {
  const refresh = async (bearer: string): Promise<number> =>
    (await platform.call("POST", "/sts/exchange_refresh_token", { token: bearer })).status;
  const uses = async (token: string): Promise<number> =>
    (await platform.call("GET", "/iam/v2/roles", { token })).status;
  const unnamed = async (bearer: string): Promise<number> =>
    (await platform.call("GET", "/sts/exchange", { token: bearer })).status;

  test("deleted: its people's tokens end immediately, and no new ones are issued", async () => {
    const group = await newGroup();
    const to = await provider(group, {}, { defaultRole: viewer });
    const person = await signIn(to, { sub: "carl" });
    const bearer = await signed({ sub: "carl" });
    assert.deepEqual([await uses(person.token), await unnamed(bearer)], [200, 200]);
    await platform.ok("DELETE", `/iam/v2/identityProviders/${to}`);
    assert.deepEqual(
      [
        await uses(person.token),
        await refresh(person.refreshToken),
        await unnamed(bearer),
        (await exchange(to, bearer)).status,
      ],
      [401, 401, 401, 401],
    );
    assert.equal(
      (await platform.call("GET", `/sts/exchange?identity=${person.identity}`, { token: bearer })).status,
      401,
    );
    assert.equal((await bindingsOf(person.identity)).length, 1, "the identity stays");
    const again = await provider(group);
    assert.notEqual(
      (await signIn(again, { sub: "carl" })).identity,
      person.identity,
      "another provider's people are others",
    );
    assert.equal(await unnamed(bearer), 200);
  });

  test("another issuer: its people get other identities; those of the first issuer are refused until it is set again", async () => {
    const second = await openIssuer();
    const to = await provider(await newGroup());
    const person = await signIn(to, { sub: "dora" });
    await platform.ok("PATCH", `/iam/v2/identityProviders/${to}?updateMask=oidc.issuer`, {
      oidc: { issuer: second.url },
    });
    assert.deepEqual(
      [await uses(person.token), await refresh(person.refreshToken), await unnamed(await signed({ sub: "dora" }))],
      [401, 401, 401],
    );
    const other = await exchange(to, await second.sign(claims({ iss: second.url, sub: "dora" })));
    assert.equal(other.status, 200, other.text);
    assert.notEqual(
      personIn(other.body["token"]),
      person.identity,
      "the same subject of another issuer is another person",
    );
    await platform.ok("PATCH", `/iam/v2/identityProviders/${to}?updateMask=oidc.issuer`, {
      oidc: { issuer: issuer.url },
    });
    assert.equal((await signIn(to, { sub: "dora" })).identity, person.identity);
    await second.close();
  });

  test("another client: tokens for the old client are refused, and the person keeps its identity by the new one", async () => {
    const to = await provider(await newGroup());
    const person = await signIn(to, { sub: "emil" });
    await platform.ok("PATCH", `/iam/v2/identityProviders/${to}?updateMask=oidc.clientId`, {
      oidc: { clientId: "renamed" },
    });
    const old = await signed({ sub: "emil" });
    assert.deepEqual(
      [(await exchange(to, old)).status, await unnamed(old), await refresh(person.refreshToken)],
      [401, 401, 401],
    );
    assert.equal((await signIn(to, { sub: "emil", aud: "renamed" })).identity, person.identity);
    assert.equal(await unnamed(await signed({ sub: "emil", aud: "renamed" })), 200);
  });

  test("changing the client needs the rights given to the provider's people, since the caller could sign in as them", async () => {
    const group = await newGroup();
    const to = await provider(group);
    const person = await signIn(to, { sub: "frank" });
    const manager = await platform.identity(group);
    const capabilities = [
      "CAP_IAM_IDENTITY_PROVIDERS_UPDATE",
      "CAP_IAM_IDENTITY_PROVIDERS_LIST",
      "CAP_IAM_ROLE_BINDINGS_CREATE",
    ];
    await platform.bind(
      group,
      manager,
      (await platform.ok("POST", `/iam/v2/roles/${group}`, { name: "manager", capabilities })).uid,
    );
    const path = `/iam/v2/identityProviders/${to}?updateMask=oidc.clientId`;
    const token = await platform.token(manager);
    const take = async (): Promise<number> =>
      (await platform.call("PATCH", path, { token, body: { oidc: { clientId: "thief" } } })).status;
    const binding = await platform.bind(await newGroup(), person.identity, await platform.role("owner"));
    assert.equal(await take(), 403);
    await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
    assert.equal(await take(), 200);
  });
});
