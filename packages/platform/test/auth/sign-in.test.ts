import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import { decodeJwt } from "jose";
import { type Browser, openBrowser, type Shown } from "../../../server/test/support/browser.ts";
import {
  addProvider,
  CLIENT,
  openPeopleProvider,
  OTHER_CLIENT,
  type PeopleProvider,
  type TokenAnswer,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Sign-ins through a real OpenID provider, from a program on the person's own machine.
const LANDING = "http://127.0.0.1:49152/callback";
let platform: Platform;
let people: PeopleProvider;
let idp: string;
let viewer: string;

before(async () => {
  platform = await startPlatform({
    MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
    MOORAGE_OAUTH_REDIRECT_URIS: "https://console.example.com/signed-in",
  });
  people = await openPeopleProvider();
  viewer = await platform.role("viewer");
  idp = await provider();
});
beforeEach(() => {
  people.claims = { email: "ada@example.com", email_verified: true, name: "Ada", groups: ["builders"] };
  people.intercept = undefined;
});
after(async () => {
  await people?.close();
  await platform?.close();
});

const provider = (oidc?: object, parent?: string): Promise<string> => addProvider(platform, people, oidc, parent);

const verifierOf = (): { verifier: string; challenge: string } => {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
};

function authorizeUrl(challenge: string, change: Record<string, string | undefined> = {}): string {
  const parameters = {
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: "xyz",
    identity_provider: idp,
    ...change,
  };
  return `${platform.url}/oauth/authorize?${new URLSearchParams(Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined))}`;
}

const redeem = (code: string, verifier: string, change: Record<string, string> = {}): Promise<TokenAnswer> =>
  tokenCall(platform, {
    grant_type: "authorization_code",
    code,
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_verifier: verifier,
    ...change,
  });

/** The parameters that the program at LANDING receives. */
const landed = ({ location }: Shown): URLSearchParams => {
  assert.ok(location.startsWith(`${LANDING}?`), location);
  return new URL(location).searchParams;
};

async function codeFor(
  login: string,
  { browser = openBrowser(), change = {} }: { browser?: Browser; change?: Record<string, string> } = {},
): Promise<{ code: string; verifier: string }> {
  const { verifier, challenge } = verifierOf();
  const landing = landed(await browser.signIn(authorizeUrl(challenge, change), login, LANDING));
  assert.deepEqual(
    [landing.get("error_description"), landing.get("state"), landing.get("iss")],
    [null, "xyz", platform.url],
  );
  return { code: landing.get("code") ?? "", verifier };
}

async function signIn(login: string, change: Record<string, string> = {}): Promise<Record<string, string>> {
  const { code, verifier } = await codeFor(login, { change });
  const { status, body } = await redeem(code, verifier);
  assert.equal(status, 200, JSON.stringify(body));
  return body as Record<string, string>;
}

const personOf = (uid: string) =>
  platform.reader.selectFrom("identities").selectAll().where("uid", "=", uid).executeTakeFirstOrThrow();
const bindingsOf = (uid: string) =>
  platform.reader.selectFrom("role_bindings").selectAll().where("identity_uid", "=", uid).execute();
const subject = (answer: Record<string, string>): string => decodeJwt(answer["access_token"] ?? "").sub ?? "";
const refresh = (token: string | undefined): Promise<TokenAnswer> =>
  tokenCall(platform, { grant_type: "refresh_token", refresh_token: token ?? "" });

test("the first sign-in creates an identity with a role and gives tokens, and the next finds the same identity", async () => {
  const first = await signIn("ada");
  assert.deepEqual(Object.keys(first).sort(), ["access_token", "expires_in", "refresh_token", "token_type"]);
  const uid = subject(first);
  const before = await personOf(uid);
  assert.deepEqual(
    [before.parent, before.email, before.issuer, before.subject, before.provider],
    ["", "ada@example.com", people.url, "ada", idp],
  );
  assert.deepEqual(
    (await bindingsOf(uid)).map((row) => [row.parent, row.role_uid]),
    [[platform.organization, viewer]],
  );
  assert.equal(
    (await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token: first["access_token"] })).status,
    200,
  );
  assert.equal((await refresh(first["refresh_token"])).status, 200);

  assert.equal(subject(await signIn("ada")), uid);
  assert.ok(Number((await personOf(uid)).last_seen_time) > Number(before.last_seen_time));
  assert.equal((await bindingsOf(uid)).length, 1);
  assert.notEqual(subject(await signIn("grace")), uid);
});

test("a person in more groups than a token holds has the roles of all, and keeps them through refreshes", async () => {
  const { uid: team } = await platform.group(platform.organization);
  const provided = await provider({ additionalScopes: ["groups"] });
  const names = Array.from({ length: 900 }, (_, at) => `CN=department-${at},OU=everybody,DC=example,DC=com`);
  // More than 3,000 bytes of them give a role. Only the last one gives that to push.
  const { uid: elsewhere } = await platform.group(platform.organization);
  for (const externalGroupId of names.slice(0, 80))
    await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provided}`, {
      externalGroupId,
      roleUid: externalGroupId === names[79] ? await platform.role("editor") : viewer,
      scope: externalGroupId === names[79] ? team : elsewhere,
    });
  people.claims = { groups: names };
  const signedIn = await signIn("many", { identity_provider: provided });
  const claims = decodeJwt(signedIn["access_token"] ?? "");
  assert.ok((claims["groups"] as string[]).length < 80, "the token has some of them");
  assert.ok((signedIn["access_token"] ?? "").length < 8_000, "the token stays small");
  const mayPush = async (token: string | undefined): Promise<number> =>
    (await platform.call("POST", `/registry/v2/repos/${team}`, { token, body: { name: `r${randomUUID()}` } })).status;
  assert.equal(await mayPush(signedIn["access_token"]), 200);
  const again = await refresh(signedIn["refresh_token"]);
  assert.equal(await mayPush(String(again.body["access_token"])), 200);

  // A mapping that is made later applies to the groups that are kept.
  const { uid: later } = await platform.ok("POST", "/iam/v2/groups", { name: "later" });
  const other = await provider({ additionalScopes: ["groups"] }, later);
  const late = await signIn("many", { identity_provider: other });
  const see = (name = "x") =>
    platform.call("POST", `/registry/v2/repos/${later}`, { token: late["access_token"], body: { name } });
  assert.equal((await see()).status, 403);
  const made = await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${other}`, {
    externalGroupId: names[777],
    roleUid: await platform.role("editor"),
    scope: later,
  });
  assert.equal((await see()).status, 200);
  await platform.ok("DELETE", `/iam/v2/externalGroupRoleMappings/${made.uid}`);
  assert.equal((await see("y")).status, 403);

  // One row a person and list; it goes with the person.
  await signIn("many", { identity_provider: provided });
  const rowsOf = (identity: string) =>
    platform.reader.selectFrom("sign_in_groups").select("uid").where("identity", "=", identity).execute();
  assert.equal((await rowsOf(subject(signedIn))).length, 1);
  await platform.ok("DELETE", `/iam/v2/identities/${subject(signedIn)}`);
  assert.deepEqual(await rowsOf(subject(signedIn)), []);
});

test("groups of a claim with a URL for its name, or within another claim, give roles", async () => {
  for (const [groupsClaim, claims] of [
    ["realm_access.roles", { realm_access: { roles: ["builders"] } }],
    ["https://example.com/groups", { "https://example.com/groups": ["builders"] }],
  ] as const) {
    people.claims = claims;
    const provided = await provider({ additionalScopes: ["groups"], groupsClaim });
    const { access_token: token = "" } = await signIn("nested", { identity_provider: provided });
    assert.deepEqual(decodeJwt(token)["groups"], ["builders"], groupsClaim);
  }
});

test("groups that a provider leaves out are named on the person, in the audit log and in the log", async () => {
  const provided = await provider({ additionalScopes: ["groups"] });
  people.claims = { hasgroups: true };
  const uid = subject(await signIn("overage", { identity_provider: provided }));
  const shown = async (): Promise<string> =>
    String((await platform.ok("GET", `/iam/v2/identities/${uid}`))["groupsLeftOut"]);
  assert.match(await shown(), /^all groups: .*\(overage\)$/);
  const [entry] = await platform
    .ok("GET", `/iam/v2/auditEntries?method=iam.signIn&resource=${provided}`)
    .then((answer) => answer["auditEntries"] as { details: Record<string, string> }[]);
  assert.match(entry?.details["groupsLeftOut"] ?? "", /overage/);
  people.claims = { groups: ["builders", { id: 7 }] };
  await signIn("overage", { identity_provider: provided });
  assert.match(await shown(), /^1 entries of the claim groups/);
  people.claims = { groups: ["builders"] };
  await signIn("overage", { identity_provider: provided });
  assert.equal(await shown(), "");
  // Perhaps of a person in no group, perhaps for want of a scope: it is shown.
  people.claims = {};
  await signIn("overage", { identity_provider: provided });
  assert.equal(await shown(), "the token has no claim groups");
});

test("an e-mail address that the provider has not verified is not stored", async () => {
  people.claims = { email: "root@example.com", email_verified: "true" };
  const person = await personOf(subject(await signIn("mallory")));
  assert.deepEqual([person.email, person.email_unverified], ["", "root@example.com"]);
});

test("a person is identified by oid where the provider's settings say so, and groups come from the claim that is set", async () => {
  people.claims = { oid: "object-1", groups: "builders" };
  const byObject = {
    identity_provider: await provider({
      correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
      additionalScopes: ["groups"],
    }),
  };
  const answer = await signIn("ada", byObject);
  const claims = decodeJwt(answer["access_token"] ?? "");
  assert.deepEqual([claims["idp"], claims["groups"]], [byObject.identity_provider, ["builders"]]);
  assert.ok(Number(claims["groups_exp"]) > Number(claims.iat));
  assert.equal((await personOf(String(claims.sub))).subject, "object-1");
  people.claims = { groups: "builders" };
  const landing = landed(await openBrowser().signIn(authorizeUrl(verifierOf().challenge, byObject), "ada", LANDING));
  assert.equal(landing.get("error"), "server_error");
  assert.match(landing.get("error_description") ?? "", /does not say who signed in/);
});

test("sign-ins work for a public client of the provider, and for a provider without PKCE", async () => {
  let authorization: string | undefined = "none";
  let verifier: boolean | undefined;
  people.intercept = (request) => {
    if (request.url === "/token") authorization = request.headers.authorization;
    if (request.url?.startsWith("/auth?") === true) verifier = request.url.includes("code_challenge=");
    return false;
  };
  await signIn("ada", { identity_provider: await provider({ pkceEnabled: false }) });
  assert.match(authorization ?? "", /^Basic /);
  assert.equal(verifier, false);
  await signIn("ada");
  assert.equal(verifier, true);
});

test("scope narrows the rights of the tokens", async () => {
  const answer = await signIn("ada", { scope: `openid CAP_REPO_LIST ${platform.organization}` });
  const claims = decodeJwt(answer["access_token"] ?? "");
  assert.deepEqual([claims["cap"], claims["scopes"]], [["CAP_REPO_LIST"], [platform.organization]]);
  const again = await refresh(answer["refresh_token"]);
  assert.deepEqual(decodeJwt(String(again.body["access_token"]))["cap"], ["CAP_REPO_LIST"]);
});

test("an error before the redirect URI is verified is shown to the person, and sent nowhere", async () => {
  const { challenge } = verifierOf();
  for (const change of [
    { redirect_uri: "http://localhost:49152/callback" },
    { redirect_uri: "https://127.0.0.1:49152/callback" },
    { redirect_uri: "http://127.0.0.1:49152@evil.example/" },
    { redirect_uri: "http://user@127.0.0.1:49152/" },
    { redirect_uri: "http://127.0.0.1:49152/#" },
    { redirect_uri: "http://127.0.0.1:49152/a/../b" },
    { redirect_uri: "https://evil.example/" },
    { redirect_uri: "https://console.example.com/signed-in" },
    { redirect_uri: undefined },
    { redirect_uri: "" },
    { client_id: "moorage-web" },
    { client_id: "moorage-web", redirect_uri: "https://console.example.com/signed-in/../x" },
    { client_id: "<script>" },
    { client_id: undefined },
  ]) {
    const shown = await openBrowser().open(authorizeUrl(challenge, change));
    assert.deepEqual(
      [shown.status, shown.location, shown.headers.get("content-type")],
      [400, "", "text/html; charset=utf-8"],
      JSON.stringify(change),
    );
    assert.match(shown.headers.get("content-security-policy") ?? "", /^default-src 'none'; .*frame-ancestors 'none'$/);
    assert.deepEqual(
      [shown.headers.get("cache-control"), shown.headers.get("referrer-policy")],
      ["no-store", "no-referrer"],
    );
    assert.doesNotMatch(shown.text, /<script|evil/);
  }
  const twice = await openBrowser().open(`${authorizeUrl(challenge)}&redirect_uri=${encodeURIComponent(LANDING)}`);
  assert.deepEqual([twice.status, twice.location], [400, ""]);
});

test("an error after that is sent to the client, with its state and the issuer", async () => {
  const { challenge } = verifierOf();
  for (const [change, error] of [
    [{ response_type: "token" }, "unsupported_response_type"],
    [{ response_type: undefined }, "invalid_request"],
    [{ response_mode: "form_post" }, "invalid_request"],
    [{ code_challenge: undefined }, "invalid_request"],
    [{ code_challenge: "short" }, "invalid_request"],
    [{ code_challenge_method: "plain" }, "invalid_request"],
    [{ code_challenge_method: undefined }, "invalid_request"],
    [{ identity_provider: "f".repeat(40) }, "invalid_request"],
    [{ identity_provider: "' or 1=1" }, "invalid_request"],
    [{ scope: "CAP_REPO_LISTS" }, "invalid_scope"],
  ] as const) {
    const landing = landed(await openBrowser().open(authorizeUrl(challenge, change), LANDING));
    assert.deepEqual(
      [landing.get("error"), landing.get("state"), landing.get("iss"), landing.get("code")],
      [error, "xyz", platform.url, null],
      JSON.stringify(change),
    );
  }
});

test("a sign-in can be completed only in the browser that began it, and once", async () => {
  const [victim, attacker] = [openBrowser(), openBrowser()];
  const callback = `${platform.url}/oauth/callback`;
  const begun = await attacker.signIn(authorizeUrl(verifierOf().challenge), "mallory", callback);
  for (const browser of [victim, openBrowser()]) {
    if (browser === victim) await victim.open(authorizeUrl(verifierOf().challenge), people.url);
    const shown = await browser.open(begun.location);
    assert.deepEqual([shown.status, shown.location], [400, ""]);
    assert.match(shown.text, /not begun in this browser/);
  }
  assert.equal(
    landed(await attacker.open(begun.location, LANDING)).get("error"),
    null,
    "the attempts of others took nothing away",
  );
  assert.equal((await attacker.open(begun.location)).status, 400);
  for (const query of [
    "",
    "state=",
    `state=${"A".repeat(43)}&code=x`,
    `${new URL(begun.location).search.slice(1)}&state=again`,
  ])
    assert.equal((await attacker.open(`${callback}?${query}`)).status, 400);
});

test("a sign-in may take ten minutes, and a code is valid for one minute", async () => {
  const browser = openBrowser();
  const begun = await browser.signIn(authorizeUrl(verifierOf().challenge), "ada", `${platform.url}/oauth/callback`);
  platform.clock.offsetMs += 601_000;
  assert.equal((await browser.open(begun.location)).status, 400);
  const { code, verifier } = await codeFor("ada");
  platform.clock.offsetMs += 61_000;
  assert.deepEqual((await redeem(code, verifier)).body["error"], "invalid_grant");
  platform.clock.offsetMs = 0;
});

test("a code is accepted only from its client, with its verifier, once", async () => {
  for (const change of [
    { code_verifier: randomBytes(32).toString("base64url") },
    { code_verifier: "short" },
    { redirect_uri: `${LANDING}/` },
    { redirect_uri: "http://127.0.0.1:49153/callback" },
    { client_id: "moorage-web" },
  ] as Record<string, string>[]) {
    const { code, verifier } = await codeFor("ada");
    assert.deepEqual((await redeem(code, verifier, change)).body["error"], "invalid_grant");
    assert.deepEqual((await redeem(code, verifier)).body["error"], "invalid_grant", "the code is gone");
  }
  const { code, verifier } = await codeFor("ada");
  assert.deepEqual(
    (
      await tokenCall(platform, {
        grant_type: "authorization_code",
        code,
        client_id: "moorage-cli",
        redirect_uri: LANDING,
      })
    ).body["error"],
    "invalid_request",
  );
  const first = await redeem(code, verifier);
  const next = await refresh(String(first.body["refresh_token"]));
  assert.equal(next.status, 200);
  assert.deepEqual((await redeem(code, verifier)).body["error"], "invalid_grant");
  assert.deepEqual(
    (await refresh(String(next.body["refresh_token"]))).body["error"],
    "invalid_grant",
    "what the code gave has ended",
  );
});

test("of two concurrent uses of one code at most one succeeds", async () => {
  const { code, verifier } = await codeFor("ada");
  const answers = await Promise.all(Array.from({ length: 6 }, () => redeem(code, verifier)));
  assert.ok(
    answers.filter(({ status }) => status === 200).length === 1,
    JSON.stringify(answers.map(({ status }) => status)),
  );
  const won = answers.find(({ status }) => status === 200)?.body["refresh_token"];
  assert.equal((await refresh(String(won))).status, 400, "nobody knows who was the thief");
});

test("an answer for another provider, with another state or nonce, is refused", async () => {
  const callback = `${platform.url}/oauth/callback`;
  const fault = async (bend: (url: URL) => void | Promise<void>): Promise<URLSearchParams> => {
    const browser = openBrowser();
    const begun = new URL((await browser.signIn(authorizeUrl(verifierOf().challenge), "ada", callback)).location);
    await bend(begun);
    return landed(await browser.open(begun.href, LANDING));
  };
  for (const bend of [
    (url: URL) => url.searchParams.set("iss", "https://other.example.com"),
    (url: URL) => url.searchParams.delete("iss"),
    (url: URL) => url.searchParams.set("code", "guessed"),
    (url: URL) => url.searchParams.delete("code"),
    // The code of another sign-in, with another nonce and verifier.
    async (url: URL) =>
      url.searchParams.set(
        "code",
        new URL(
          (await openBrowser().signIn(authorizeUrl(verifierOf().challenge), "mallory", callback)).location,
        ).searchParams.get("code") ?? "",
      ),
  ]) {
    const landing = await fault(bend as (url: URL) => void);
    assert.deepEqual([landing.get("error"), landing.get("code")], ["server_error", null]);
  }
  // Without PKCE only the nonce distinguishes them.
  const plain = { identity_provider: await provider({ pkceEnabled: false }) };
  const [browser, other] = [openBrowser(), openBrowser()];
  const begun = new URL((await browser.signIn(authorizeUrl(verifierOf().challenge, plain), "ada", callback)).location);
  const stolen = new URL(
    (await other.signIn(authorizeUrl(verifierOf().challenge, plain), "mallory", callback)).location,
  );
  begun.searchParams.set("code", stolen.searchParams.get("code") ?? "");
  assert.equal(landed(await browser.open(begun.href, LANDING)).get("error"), "server_error");
});

test("two organizations with one issuer: a code issued for one is refused for the other", async () => {
  const { uid: other } = await platform.ok("POST", "/iam/v2/groups", { name: "other" });
  const theirs = await provider(
    { clientId: OTHER_CLIENT.id, clientSecret: OTHER_CLIENT.secret, pkceEnabled: false },
    other,
  );
  const mine = subject(await signIn("ada"));
  assert.notEqual(subject(await signIn("ada", { identity_provider: theirs })), mine);
  const callback = `${platform.url}/oauth/callback`;
  const [browser, attacker] = [openBrowser(), openBrowser()];
  const begun = new URL((await browser.signIn(authorizeUrl(verifierOf().challenge), "ada", callback)).location);
  const stolen = new URL(
    (await attacker.signIn(authorizeUrl(verifierOf().challenge, { identity_provider: theirs }), "mallory", callback))
      .location,
  );
  begun.searchParams.set("code", stolen.searchParams.get("code") ?? "");
  assert.equal(landed(await browser.open(begun.href, LANDING)).get("error"), "server_error");
});

test("deleting or changing a provider ends the sign-ins begun there, and the tokens issued through it", async () => {
  const callback = `${platform.url}/oauth/callback`;
  const removed = await provider();
  const browser = openBrowser();
  const begun = await browser.signIn(
    authorizeUrl(verifierOf().challenge, { identity_provider: removed }),
    "ada",
    callback,
  );
  const { code, verifier } = await codeFor("ada", { change: { identity_provider: removed } });
  const given = await signIn("ada", { identity_provider: removed });
  await platform.ok("DELETE", `/iam/v2/identityProviders/${removed}`);
  const landing = landed(await browser.open(begun.location, LANDING));
  assert.deepEqual(
    [landing.get("error"), /begin again/.test(landing.get("error_description") ?? "")],
    ["access_denied", true],
  );
  assert.equal((await redeem(code, verifier)).body["error"], "invalid_grant");
  assert.equal((await refresh(given["refresh_token"])).status, 400);
  assert.equal(
    (await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token: given["access_token"] })).status,
    401,
  );
});

test("a failing provider is reported, with what to do", async () => {
  const fault = async (): Promise<[string | null, string]> => {
    const landing = landed(await openBrowser().signIn(authorizeUrl(verifierOf().challenge), "ada", LANDING));
    return [landing.get("error"), landing.get("error_description") ?? ""];
  };
  const answer = (path: string, status: number, body: string) => {
    people.intercept = (request, response) =>
      request.url?.split("?")[0] === path &&
      (response.writeHead(status, { "content-type": "application/json" }).end(body), true);
  };
  // Nothing of its discovery document is cached after a failure.
  answer("/token", 500, "{}");
  assert.deepEqual(await fault(), [
    "temporarily_unavailable",
    "the identity provider could not be reached: try again in a moment, and inform its administrators if this persists",
  ]);
  answer("/.well-known/openid-configuration", 503, "secret of the provider");
  assert.equal((await fault())[0], "temporarily_unavailable");
  for (const body of [
    "<html>",
    "{}",
    JSON.stringify({ issuer: "https://other.example.com" }),
    JSON.stringify({ issuer: `${people.url}/` }),
    `{"a":${"[".repeat(2000)}`,
  ]) {
    answer("/.well-known/openid-configuration", 200, body);
    assert.equal((await fault())[0], "server_error", body.slice(0, 50));
  }
  for (const [body, status] of [
    ['{"error":"invalid_client","error_description":"<b>"}', 401],
    ['{"access_token":"a","token_type":"Bearer"}', 200],
    ['{"access_token":"a","token_type":"Bearer","id_token":"a.b.c"}', 200],
  ] as const) {
    answer("/token", status, body);
    const [error, description] = await fault();
    assert.equal(error, "server_error");
    assert.doesNotMatch(description, /<b>/);
  }
  answer("/jwks", 200, '{"keys":[]}');
  assert.equal((await fault())[0], "server_error");
  people.intercept = undefined;
  await signIn("ada");
});

test("new keys of a provider are accepted immediately", async () => {
  await signIn("ada");
  await people.rotate();
  await signIn("ada");
});

test("denied consent is sent to the client as access_denied", async () => {
  const browser = openBrowser();
  const page = await browser.open(authorizeUrl(verifierOf().challenge));
  const abort = /href="([^"]+\/abort)"/.exec(page.text)?.[1] ?? "";
  const landing = landed(await browser.open(new URL(abort, page.url).href, LANDING));
  assert.deepEqual(
    [landing.get("error"), landing.get("error_description")],
    ["access_denied", "the sign-in was declined at the identity provider"],
  );
});

test("the discovery document names the endpoints", async () => {
  for (const path of ["openid-configuration", "oauth-authorization-server"]) {
    const document = (await (await fetch(`${platform.url}/.well-known/${path}`)).json()) as Record<string, unknown>;
    assert.equal(document["authorization_endpoint"], `${platform.url}/oauth/authorize`);
    assert.deepEqual(document["code_challenge_methods_supported"], ["S256"]);
    assert.deepEqual(document["protected_resources"], [platform.url, `${platform.url}/mcp`], "the registry and MCP");
    assert.equal(document["client_id_metadata_document_supported"], true);
    for (const grant of ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"])
      assert.ok((document["grant_types_supported"] as string[]).includes(grant));
    assert.deepEqual(
      [document["device_authorization_endpoint"], document["revocation_endpoint"]],
      [`${platform.url}/oauth/device_authorization`, `${platform.url}/oauth/revoke`],
    );
  }
});

test("revoking a refresh token ends it, with all other tokens of the same sign-in", async () => {
  const given = await signIn("ada");
  const next = String((await refresh(given["refresh_token"])).body["refresh_token"]);
  const revoke = (token: string): Promise<TokenAnswer> => tokenCall(platform, { token }, "/oauth/revoke");
  assert.equal((await revoke(given["access_token"] ?? "")).body["error"], "unsupported_token_type");
  for (const unknown of ["nothing", `moorage_rt_${"A".repeat(43)}`])
    assert.deepEqual(await revoke(unknown), { status: 200, body: {} });
  assert.deepEqual(await revoke(next), { status: 200, body: {} });
  assert.equal((await refresh(next)).body["error"], "invalid_grant");
});

test("the audit log has each sign-in with its person and provider, and each rejection", async () => {
  const entries = async (method: string, decision: string) =>
    (
      await platform.ok(
        "GET",
        `/iam/v2/auditEntries?uidp.descendantsOf=${platform.organization}&method=${method}&decision=${decision}&resource=${audited}`,
      )
    )["auditEntries"] as Json[];
  const audited = await provider();
  const given = await signIn("ada", { identity_provider: audited });
  const [entry] = await entries("iam.signIn", "AUDIT_DECISION_ALLOWED");
  assert.deepEqual(
    [entry?.["identity"], entry?.["act"], entry?.["details"]],
    [subject(given), { iss: people.url, sub: "ada" }, { created: "true", role: viewer }],
  );
  assert.equal((await entries("oauth.token", "AUDIT_DECISION_ALLOWED"))[0]?.["identity"], subject(given));
  const browser = openBrowser();
  const begun = new URL(
    (
      await browser.signIn(
        authorizeUrl(verifierOf().challenge, { identity_provider: audited }),
        "ada",
        `${platform.url}/oauth/callback`,
      )
    ).location,
  );
  begun.searchParams.set("code", "guessed");
  await browser.open(begun.href, LANDING);
  let refused: Json | undefined;
  for (
    const endMs = Date.now() + 60_000;
    refused === undefined && Date.now() < endMs;
    [refused] = await entries("iam.signIn", "AUDIT_DECISION_DENIED")
  )
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.match(String(refused?.["reason"]), /^server_error: the identity provider refused the code \(invalid_grant\)/);
  assert.doesNotMatch(JSON.stringify([entry, refused]), new RegExp(`guessed|${CLIENT.secret}`));
});
