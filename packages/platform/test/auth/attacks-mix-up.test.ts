import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, afterEach, before, test } from "node:test";
import { decodeJwt } from "jose";
import { type Browser, openBrowser, type Shown } from "../../../server/test/support/browser.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import {
  addProvider,
  CLIENT,
  openPeopleProvider,
  type PeopleProvider,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// The mix-up of identity providers (RFC 9700 §4.4). Mallory, who owns another organization or a subgroup, registers a
// provider of her own and sends Ada one link to sign in there. Her provider passes Ada on to the provider of Ada's
// organization, with the nonce and the PKCE challenge of a sign-in that Mallory began there. If the code that Ada comes
// back with is posted to Mallory's provider, Mallory finishes her own sign-in with it, as Ada.
const LANDING = "http://127.0.0.1:49152/callback";
let platform: Platform;
let people: PeopleProvider;
let evil: Issuer;
let alpha: string;
let parents: Record<"another organization" | "a subgroup", { group: string; token: string }>;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  people = await openPeopleProvider();
  evil = await openIssuer();
  alpha = await addProvider(platform, people);
  const owned = async (group: string) => ({
    group,
    token: await platform.token(await platform.identity(group, "owner")),
  });
  const { uid: beta } = await platform.ok("POST", "/iam/v2/groups", { name: "beta" });
  const { uid: subgroup } = await platform.group(platform.organization);
  parents = { "another organization": await owned(beta), "a subgroup": await owned(subgroup) };
});
afterEach(() => {
  people.intercept = undefined;
});
after(async () => {
  await evil?.close();
  await people?.close();
  await platform?.close();
});

const shared = (): string => `${platform.url}/oauth/callback`;
const ownCallback = (provider: string): string => `${shared()}/${provider}`;
const newVerifier = (): string => randomBytes(32).toString("base64url");

/** The address that a program opens in a browser to have a person sign in. */
function programLink(provider: string, verifier: string): string {
  return `${platform.url}/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "xyz",
    identity_provider: provider,
  })}`;
}

const redeem = (code: string, verifier: string) =>
  tokenCall(platform, {
    grant_type: "authorization_code",
    code,
    client_id: "moorage-cli",
    redirect_uri: LANDING,
    code_verifier: verifier,
  });

/** The person whom the program gets tokens of; the error, if it gets none. */
async function whoIs({ location, text }: Shown, verifier: string): Promise<string> {
  const answer = URL.parse(location)?.searchParams;
  if (answer?.has("code") !== true) return answer?.get("error") ?? text;
  const { status, body } = await redeem(answer.get("code") ?? "", verifier);
  if (status !== 200) return String(body["error"]);
  const { sub = "" } = decodeJwt(String(body["access_token"]));
  const row = await platform.reader
    .selectFrom("identities")
    .select("subject")
    .where("uid", "=", sub)
    .executeTakeFirst();
  return row?.subject ?? "nobody";
}

async function signInAs(login: string, provider: string, browser: Browser = openBrowser()): Promise<string> {
  const verifier = newVerifier();
  return await whoIs(await browser.signIn(programLink(provider, verifier), login, LANDING), verifier);
}

/** From now on the provider names itself neither in its answers nor in its metadata that it does. */
async function withoutIss(): Promise<void> {
  const path = "/.well-known/openid-configuration";
  const { authorization_response_iss_parameter_supported: _, ...metadata } = (await (
    await fetch(`${people.url}${path}`)
  ).json()) as Record<string, unknown>;
  people.intercept = (request, response) => {
    if (request.url === path) {
      response.setHeader("content-type", "application/json").end(JSON.stringify(metadata));
      return true;
    }
    const set = response.setHeader.bind(response);
    response.setHeader = (name, value) =>
      set(
        name,
        name.toLowerCase() === "location" && typeof value === "string" ? value.replace(/[?&]iss=[^&]*/, "") : value,
      );
    return false;
  };
  // What is known of the provider's metadata is forgotten after five minutes.
  platform.clock.offsetMs += 301_000;
}

async function withIss(): Promise<void> {
  people.intercept = undefined;
  platform.clock.offsetMs += 301_000;
}

const makeShared = (...uids: string[]): Promise<void> =>
  platform.transact(
    async (tx) =>
      void (await tx.updateTable("identity_providers").set({ shared_callback: 1 }).where("uid", "in", uids).execute()),
  );

async function evilProvider({ group, token }: { group: string; token: string }): Promise<string> {
  const oidc = { issuer: evil.url, clientId: CLIENT.id, pkceEnabled: true };
  const body = { name: `evil ${newVerifier().toLowerCase().replace(/\W/g, "-")}`, oidc };
  const made = await platform.call("POST", `/iam/v2/identityProviders/${group}`, { token, body });
  assert.equal(made.status, 200, made.text);
  return made.body.uid;
}

/**
 * Plays the attack. `redirectUri` is the one that Mallory's provider asks Ada's for. Answers the codes that Mallory's
 * provider received, whom Mallory could sign in as, and what Ada was shown.
 */
async function attack(
  provider: string,
  redirectUri: string,
  link: string,
): Promise<{ stolen: string[]; mallory: string; shown: Shown }> {
  const [mallory, ada] = [openBrowser(), openBrowser()];
  const verifier = newVerifier();
  const begun = new URL((await mallory.open(programLink(alpha, verifier), `${people.url}/auth`)).location);
  const stolen: string[] = [];
  const json = (response: ServerResponse, body: object): void =>
    void response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  evil.routes.set("/.well-known/openid-configuration", (_request, response) =>
    json(response, {
      issuer: evil.url,
      authorization_endpoint: `${evil.url}/auth`,
      token_endpoint: `${evil.url}/token`,
      jwks_uri: `${evil.url}/jwks`,
    }),
  );
  evil.routes.set("/auth", (request, response) => {
    const on = new URL(begun);
    on.searchParams.set("state", new URL(request.url ?? "", evil.url).searchParams.get("state") ?? "");
    on.searchParams.set("redirect_uri", redirectUri);
    response.writeHead(302, { location: on.href }).end();
  });
  evil.routes.set("/token", (request, response) => {
    void textOf(request).then((text) => {
      stolen.push(new URLSearchParams(text).get("code") ?? "");
      json(response, { error: "invalid_grant" });
    });
  });
  const shown = await ada.signIn(link.replace("PROVIDER", encodeURIComponent(provider)), "ada", LANDING);
  const back = new URLSearchParams({
    code: stolen[0] ?? "nothing",
    state: begun.searchParams.get("state") ?? "",
    ...(people.intercept === undefined && { iss: people.url }),
  });
  const finished = await mallory.open(`${begun.searchParams.get("redirect_uri")}?${back}`, LANDING);
  return { stolen, mallory: await whoIs(finished, verifier), shown };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}

const links = (): Record<string, string> => ({
  "to a session": `${platform.url}/sign-in?identity_provider=PROVIDER`,
  "of a program": programLink("x", newVerifier()).replace("identity_provider=x", "identity_provider=PROVIDER"),
});

for (const iss of [true, false])
  for (const from of ["another organization", "a subgroup"] as const)
    test(`${iss ? "a provider that names itself" : "a provider that does not name itself"}: its code is not given to that of ${from}`, async () => {
      await (iss ? withIss() : withoutIss());
      // Somebody may have left the redirect URI of old there.
      people.register(CLIENT.id, shared());
      const provider = await evilProvider(parents[from]);
      for (const redirectUri of [shared(), ownCallback(alpha), ownCallback(provider)])
        for (const [what, link] of Object.entries(links())) {
          const { stolen, mallory, shown } = await attack(provider, redirectUri, link);
          assert.deepEqual([stolen, mallory], [[], "server_error"], `${what}, ${redirectUri}`);
          if (redirectUri === ownCallback(provider))
            assert.match(shown.text, /redirect_uri/, "refused by Ada's provider");
          else {
            const said = new URL(shown.location || shown.url).searchParams.get("error_description") ?? shown.text;
            assert.match(said, /came from another identity provider/, what);
          }
        }
      assert.equal(await signInAs("ada", alpha), "ada", "without an attack it works");
    });

test("the refused answer of another provider stands in the audit log of the organization whose link it was", async () => {
  const { group, token } = parents["another organization"];
  const provider = await evilProvider(parents["another organization"]);
  await attack(provider, ownCallback(alpha), `${platform.url}/sign-in?identity_provider=PROVIDER`);
  const path = `/iam/v2/auditEntries?uidp.descendantsOf=${group}&method=iam.signIn&resource=${encodeURIComponent(provider)}`;
  const { reason } = await eventually(async () => {
    const { body } = await platform.call("GET", path, { token });
    return (body["auditEntries"] as { reason: string }[])[0];
  });
  assert.match(reason, /^invalid_request: the answer came from another identity provider/);
});

test("providers from before, which share a callback: a code is given to no other, and they move on one by one", async () => {
  const provider = await evilProvider(parents["another organization"]);
  people.register(CLIENT.id, shared());
  await makeShared(alpha, provider);
  for (const iss of [true, false]) {
    await (iss ? withIss() : withoutIss());
    for (const link of Object.values(links())) {
      const { stolen, mallory } = await attack(provider, shared(), link);
      assert.deepEqual([stolen, mallory], [[], iss ? "server_error" : "invalid_request"]);
    }
    assert.equal(await signInAs("ada", alpha), iss ? "ada" : "invalid_request");
  }
  const shown = await openBrowser().signIn(`${platform.url}/sign-in?identity_provider=${alpha}`, "ada");
  assert.match(shown.text, /must register its own redirect URI there/);

  const path = `/iam/v2/identityProviders/${alpha}`;
  const before = await platform.ok("GET", path);
  assert.deepEqual([before["sharedCallback"], before["redirectUri"]], [true, ownCallback(alpha)]);
  const moved = await platform.ok("PATCH", path, { sharedCallback: false });
  assert.deepEqual([moved["sharedCallback"], moved["redirectUri"]], [false, ownCallback(alpha)]);
  assert.equal(await signInAs("ada", alpha), "ada");
  for (const [method, to, body] of [
    ["PATCH", path, { sharedCallback: true }],
    [
      "POST",
      `/iam/v2/identityProviders/${platform.organization}`,
      { name: "x", sharedCallback: true, oidc: { issuer: people.url, clientId: "x" } },
    ],
  ] as const) {
    const refused = await platform.call(method, to, { token: await platform.token(), body });
    assert.deepEqual([refused.status, blamed(refused)], [400, ["sharedCallback"]]);
  }
});

test("a sign-in under way when its provider moves is not finished at the old callback", async () => {
  const [moving, other] = [await addProvider(platform, people), await addProvider(platform, people)];
  people.register(CLIENT.id, shared());
  await makeShared(moving, other);
  const verifier = newVerifier();
  const browser = openBrowser();
  const begun = await browser.signIn(programLink(moving, verifier), "ada", shared());
  assert.ok(begun.location.startsWith(`${shared()}?`), begun.location);
  await platform.ok("PATCH", `/iam/v2/identityProviders/${moving}`, { sharedCallback: false });
  assert.equal(await whoIs(await browser.open(begun.location, LANDING), verifier), "access_denied");
});

test("the only provider of an installation may keep the callback of old, even if it does not name itself", async () => {
  const keep = [platform, people, alpha] as const;
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  people = await openPeopleProvider();
  try {
    alpha = await addProvider(platform, people);
    people.register(CLIENT.id, shared());
    await makeShared(alpha);
    await withoutIss();
    assert.equal(await signInAs("ada", alpha), "ada");
    await addProvider(platform, people);
    assert.equal(await signInAs("ada", alpha), "invalid_request");
  } finally {
    await people.close();
    await platform.close();
    [platform, people, alpha] = keep;
  }
});

test("a sign-in is bound to the browser and to the program that began it, at both ends", async () => {
  const [mallory, ada] = [openBrowser(), openBrowser()];
  const [hers, adas] = [newVerifier(), newVerifier()];
  // What Mallory began is not finished in Ada's browser, nor what Ada began in Mallory's.
  const began = await mallory.signIn(programLink(alpha, hers), "mallory", shared());
  const adaBegan = await ada.signIn(programLink(alpha, adas), "ada", shared());
  for (const [browser, { location }] of [
    [ada, began],
    [mallory, adaBegan],
  ] as const) {
    const shown = await browser.open(location);
    assert.deepEqual([shown.status, shown.location], [400, ""]);
  }
  // The code goes to the browser that began, and only the program that began can use it.
  const landed = await ada.open(adaBegan.location, LANDING);
  assert.equal(await whoIs(landed, hers), "invalid_grant");
  assert.equal(await whoIs(landed, adas), "invalid_grant", "the attempt used it up");
  // A link of Mallory's program that Ada opens: the code comes to Ada's machine, where no program has the verifier.
  const lured = await openBrowser().signIn(programLink(alpha, hers), "ada", LANDING);
  assert.equal(await whoIs(lured, adas), "invalid_grant");
});
