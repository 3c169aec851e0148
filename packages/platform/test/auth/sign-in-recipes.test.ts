import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { decodeJwt } from "jose";
import { openBrowser } from "../../../server/test/support/browser.ts";
import {
  addProvider,
  openPeopleProvider,
  type PeopleProvider,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What the recipes of docs/sign-in-providers.md promise: ID tokens of a real OpenID provider with the claims that the
// providers named there write, the mapping that the recipe makes, the rights that result, and what is said of groups
// that are not there.
const LANDING = "http://127.0.0.1:49152/callback";
let platform: Platform;
/** Writes groups into every ID token, as Keycloak and Entra do. */
let always: PeopleProvider;
/** Writes them when the scope `groups` is asked for, as Dex and Okta do. */
let byScope: PeopleProvider;
let team: string;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  [always, byScope] = await Promise.all([openPeopleProvider({ groupsByScope: false }), openPeopleProvider()]);
  team = (await platform.group(platform.organization, { name: "team" })).uid;
});
beforeEach(() => {
  for (const people of [always, byScope]) [people.claims, people.intercept] = [{}, undefined];
});
after(async () => {
  await Promise.all([always?.close(), byScope?.close()]);
  await platform?.close();
});

/** An identity provider as a recipe makes it, whose external group has the role editor on the team. */
async function recipe(people: PeopleProvider, externalGroupId: string | undefined, oidc: object = {}): Promise<string> {
  const provider = await addProvider(platform, people, oidc);
  if (externalGroupId !== undefined)
    await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, {
      externalGroupId,
      roleUid: await platform.role("editor"),
      scope: team,
    });
  return provider;
}

/** Signs in with the claims; the parameters that the program at LANDING gets, and the proof that redeems their code. */
async function land(people: PeopleProvider, provider: string, login: string, claims: Record<string, unknown>) {
  people.claims = claims;
  const verifier = randomBytes(32).toString("base64url");
  const parameters = new URLSearchParams({
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "xyz",
    identity_provider: provider,
  });
  const url = `${platform.url}/oauth/authorize?${parameters}`;
  const { location, text } = await openBrowser().signIn(url, login, LANDING);
  assert.ok(location.startsWith(LANDING), text);
  return { landing: new URL(location).searchParams, verifier };
}

interface Person {
  uid: string;
  /** Whether the role of the group is there: the right to make a repository in the team. */
  mayPush: boolean;
  /** Whether the default role is there: the right to see the organization. */
  maySee: boolean;
  /** What the person's page says of groups that are not there. */
  leftOut: string;
}

let repos = 0;
async function signIn(
  people: PeopleProvider,
  provider: string,
  login: string,
  claims: Record<string, unknown>,
): Promise<Person> {
  const { landing, verifier } = await land(people, provider, login, claims);
  const { status, body } = await tokenCall<{ access_token: string }>(platform, {
    grant_type: "authorization_code",
    code: landing.get("code") ?? "",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_verifier: verifier,
  });
  assert.equal(status, 200, `${JSON.stringify(body)} ${landing}`);
  const token = body.access_token;
  const uid = decodeJwt(token).sub ?? "";
  const made = await platform.call("POST", `/registry/v2/repos/${team}`, { token, body: { name: `r${(repos += 1)}` } });
  const seen = await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token });
  return {
    uid,
    mayPush: made.status === 200,
    maySee: seen.status === 200,
    leftOut: String((await platform.call("GET", `/iam/v2/identities/${uid}`, { token })).body["groupsLeftOut"]),
  };
}

const rights = ({ mayPush, maySee, leftOut }: Person) => ({ mayPush, maySee, leftOut });
const MAPPED = { mayPush: true, maySee: true, leftOut: "" };
const VIEWER = { mayPush: false, maySee: true, leftOut: "" };

describe("Keycloak", () => {
  test("with full paths the mapping names the path, with its slash; neither the parent nor the bare name match", async () => {
    const provider = await recipe(always, "/acme/dev");
    const keycloak = (...groups: string[]) => ({ preferred_username: "ada", email_verified: false, groups });
    assert.deepEqual(rights(await signIn(always, provider, "ada", keycloak("/acme/dev"))), MAPPED);
    for (const other of ["/acme", "/acme/dev/backend", "acme/dev", "dev", "/acme/Dev"])
      assert.deepEqual(rights(await signIn(always, provider, "bob", keycloak(other))), VIEWER, other);
  });

  test("without full paths groups of that name anywhere in the realm match", async () => {
    const provider = await recipe(always, "dev");
    assert.deepEqual(rights(await signIn(always, provider, "ada", { groups: ["dev"] })), MAPPED);
    assert.deepEqual(rights(await signIn(always, provider, "ada", { groups: ["/acme/dev"] })), VIEWER);
  });

  test("realm roles are groups when the claim is their path; without a mapper the person's page says so", async () => {
    const provider = await recipe(always, "registry-dev", { groupsClaim: "realm_access.roles" });
    const roles = ["offline_access", "registry-dev"];
    assert.deepEqual(rights(await signIn(always, provider, "ada", { realm_access: { roles } })), MAPPED);
    const leftOut = "the token has no claim realm_access.roles";
    assert.deepEqual(rights(await signIn(always, provider, "ada", {})), { ...VIEWER, leftOut });
  });

  test("a scope that the client does not have ends the sign-in with the provider's error", async () => {
    const provider = await recipe(always, undefined, { additionalScopes: ["groups"] });
    always.intercept = (request, response) => {
      const url = new URL(request.url ?? "/", always.url);
      if (url.pathname !== "/auth") return false;
      const back = new URL(url.searchParams.get("redirect_uri") ?? "");
      back.search = String(
        new URLSearchParams({
          error: "invalid_scope",
          error_description: `Invalid scopes: ${url.searchParams.get("scope")}`,
          state: url.searchParams.get("state") ?? "",
          iss: always.url,
        }),
      );
      response.writeHead(302, { location: back.href }).end();
      return true;
    };
    const { landing } = await land(always, provider, "ada", {});
    assert.match(landing.get("error_description") ?? "", /refused the sign-in \(invalid_scope\)/);
  });
});

describe("Dex", () => {
  test("groups of LDAP, SAML and GitHub are there when the scope groups is asked for, as Dex spells them", async () => {
    for (const [name, ...others] of [
      ["developers", "cn=developers,ou=Groups,dc=example,dc=org", "Developers"],
      ["acme:site-reliability-engineers", "acme:Site Reliability Engineers", "acme", "site-reliability-engineers"],
    ]) {
      const provider = await recipe(byScope, name, { additionalScopes: ["email", "profile", "groups"] });
      const dex = (...groups: (string | undefined)[]) => ({ email: "ada@example.com", email_verified: true, groups });
      assert.deepEqual(rights(await signIn(byScope, provider, "ada", dex("another", name))), MAPPED);
      for (const other of others)
        assert.deepEqual(rights(await signIn(byScope, provider, "bob", dex(other))), VIEWER, other);
    }
  });

  test("without the scope nobody has groups, and the person's page says so", async () => {
    const provider = await recipe(byScope, "developers");
    const leftOut = "the token has no claim groups";
    assert.deepEqual(rights(await signIn(byScope, provider, "ada", { groups: ["developers"] })), {
      ...VIEWER,
      leftOut,
    });
  });
});

describe("Entra", () => {
  const OBJECT = "6a4e0e7e-5b1e-4c3b-9c55-1f3f6a3d7b11";
  const BY_OBJECT = { correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID" };
  const person = (oid: string) => ({ oid, name: "Ada Lovelace", preferred_username: "ada@example.com" });

  test("groups are object ids, and a person is the same one by oid although another application writes another sub", async () => {
    const provider = await recipe(always, OBJECT, BY_OBJECT);
    const first = await signIn(always, provider, "pairwise-1", { ...person("object-ada"), groups: [OBJECT] });
    assert.deepEqual(rights(first), MAPPED);
    const again = await signIn(always, provider, "pairwise-2", { ...person("object-ada"), groups: [OBJECT] });
    assert.equal(again.uid, first.uid);
    const named = await signIn(always, provider, "pairwise-3", { ...person("object-bob"), groups: ["developers"] });
    assert.deepEqual([named.uid === first.uid, rights(named)], [false, VIEWER], "names of groups match nothing");
  });

  test("beyond 200 groups there is a reference in their place: no group gives rights, and the person's page says so", async () => {
    const provider = await recipe(always, OBJECT, BY_OBJECT);
    const overage = {
      ...person("object-eve"),
      _claim_names: { groups: "src1" },
      _claim_sources: { src1: { endpoint: "https://graph.example.com/users/object-eve/getMemberObjects" } },
    };
    const eve = await signIn(always, provider, "eve", overage);
    assert.deepEqual([eve.mayPush, eve.maySee], [false, true]);
    assert.match(eve.leftOut, /^all groups: .* claim groups is left out \(overage\)$/);
    const assigned = await signIn(always, provider, "eve", { ...person("object-eve"), groups: [OBJECT] });
    assert.deepEqual([assigned.uid, rights(assigned)], [eve.uid, MAPPED], "with the application's groups alone");
  });

  test("an address that is not said to be verified is not taken as the person's", async () => {
    const provider = await recipe(always, undefined, BY_OBJECT);
    const { uid } = await signIn(always, provider, "mia", { ...person("object-mia"), email: "mia@example.com" });
    const mia = await platform.ok("GET", `/iam/v2/identities/${uid}`);
    assert.deepEqual([mia["email"], mia["emailUnverified"]], ["", "mia@example.com"]);
  });
});

describe("Google", () => {
  test("without a groups claim there is the default role alone, and nothing is said to be left out", async () => {
    const provider = await recipe(always, undefined, { groupsClaim: "" });
    const google = { hd: "example.com", email: "ada@example.com", email_verified: true };
    assert.deepEqual(rights(await signIn(always, provider, "ada", google)), VIEWER);
  });

  test("who has an account without the organization's domain gets in just the same, without a default role to no right", async () => {
    const stranger = { email: "mallory@example.net", email_verified: true };
    const open = await recipe(always, undefined, { groupsClaim: "" });
    assert.deepEqual(rights(await signIn(always, open, "mallory", stranger)), VIEWER);
    const careful = await recipe(always, undefined, { groupsClaim: "" });
    await platform.ok("PATCH", `/iam/v2/identityProviders/${careful}`, { defaultRole: "" });
    const { mayPush, maySee } = await signIn(always, careful, "mallory", stranger);
    assert.deepEqual([mayPush, maySee], [false, false]);
  });
});

describe("Okta", () => {
  test("groups that the filter lets through are there by name with the scope groups", async () => {
    const provider = await recipe(byScope, "registry-dev", { additionalScopes: ["email", "profile", "groups"] });
    assert.deepEqual(rights(await signIn(byScope, provider, "00u1", { groups: ["registry-dev"] })), MAPPED);
    const leftOut = "the token has no claim groups";
    assert.deepEqual(
      rights(await signIn(byScope, provider, "00u1", {})),
      { ...VIEWER, leftOut },
      "the filter matched none",
    );
  });

  test("the issuer of one authorization server whose discovery names another is refused", async () => {
    byScope.intercept = (request, response) => {
      if (request.url !== "/oauth2/default/.well-known/openid-configuration") return false;
      response.setHeader("content-type", "application/json").end(JSON.stringify({ issuer: byScope.url }));
      return true;
    };
    const provider = await recipe(byScope, undefined, { issuer: `${byScope.url}/oauth2/default` });
    const shown = await openBrowser().open(`${platform.url}/sign-in?identity_provider=${provider}&return_to=/docs`);
    assert.match(shown.text, /does not answer as it should/);
  });
});
