// People sign in to programs of others for MCP: clients with metadata documents, consent, tokens for /mcp alone.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { openBrowser, type Shown } from "../support/browser.ts";
import { type DocumentSite, LANDING, openDocumentSite } from "../support/client-documents.ts";
import { clientOf, connectMcp } from "../support/mcp.ts";
import { addProvider, openPeopleProvider, type PeopleProvider, tokenCall } from "../support/people-provider.ts";
import { type Json, type Platform, startPlatform } from "../support/platform.ts";

let platform: Platform;
let people: PeopleProvider;
let site: DocumentSite;
let idp = "";
let mcp = "";
before(async () => {
  site = await openDocumentSite();
  people = await openPeopleProvider();
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  idp = await addProvider(platform, people);
  mcp = `${platform.url}/mcp`;
});
after(async () => {
  await platform?.close();
  await people?.close();
  await site?.close();
});

interface Wish {
  url: string;
  verifier: string;
}

/** A request to the authorization endpoint; `change` replaces parameters, undefined removes them. */
function wish(clientId: string, change: Record<string, string | undefined> = {}): Wish {
  const verifier = randomBytes(32).toString("base64url");
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: LANDING,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "xyz",
    resource: mcp,
    organization: "acme",
    ...change,
  };
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return { url: `${platform.url}/oauth/authorize?${new URLSearchParams(given)}`, verifier };
}

/** The link on the page of choice. */
function linkOn({ text, url }: Shown): string {
  const href = /<a href="([^"]+)"/
    .exec(text)?.[1]
    ?.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  assert.ok(href !== undefined, text);
  return new URL(href, url).href;
}

/** Signs a person in for the client, and gives the code that it is sent. */
async function codeFor(
  clientId: string,
  login: string,
  change?: Record<string, string | undefined>,
): Promise<Wish & { code: string; landed: URL }> {
  const browser = openBrowser();
  const wanted = wish(clientId, change);
  const landing = change?.["redirect_uri"] ?? LANDING;
  const page = await browser.open(wanted.url);
  assert.equal(page.status, 200, page.text);
  const landed = new URL((await browser.signIn(linkOn(page), login, landing)).location);
  return { ...wanted, landed, code: landed.searchParams.get("code") ?? "" };
}

const redeem = (
  clientId: string,
  { code, verifier }: { code: string; verifier: string },
  change: Record<string, string> = {},
) =>
  tokenCall(platform, {
    grant_type: "authorization_code",
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: LANDING,
    resource: mcp,
    ...change,
  });

function claimsOf(token: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(token).split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}

test("the official client signs a person in by what the server says, calls tools, and gets new tokens", async () => {
  const clientUrl = site.put("/official.json", { client_name: "Official" });
  const browser = openBrowser();
  const saved: { tokens?: never; verifier?: string; code?: string } & Record<string, unknown> = {};
  const provider: OAuthClientProvider = {
    redirectUrl: LANDING,
    clientMetadataUrl: clientUrl,
    clientMetadata: { redirect_uris: [LANDING], client_name: "Official" },
    clientInformation: () => saved["information"] as never,
    saveClientInformation: (information) => void (saved["information"] = information),
    tokens: () => saved.tokens,
    saveTokens: (tokens) => void Object.assign(saved, { tokens }),
    saveCodeVerifier: (verifier) => void (saved.verifier = verifier),
    codeVerifier: () => saved.verifier ?? "",
    async redirectToAuthorization(url) {
      assert.equal(url.searchParams.get("resource"), mcp);
      url.searchParams.set("organization", "acme");
      const page = await browser.open(url.href);
      assert.match(page.text, new RegExp(`<strong>${new URL(clientUrl).host}</strong>`), "the host is shown");
      const { location } = await browser.signIn(linkOn(page), "ada", LANDING);
      const landed = new URL(location).searchParams;
      assert.equal(landed.get("iss"), platform.url);
      saved["landed"] = landed;
    },
  };
  const first = new StreamableHTTPClientTransport(new URL(mcp), { authProvider: provider });
  const options = { versionNegotiation: { mode: { pin: "2026-07-28" } as const } };
  await assert.rejects(new Client({ name: "test", version: "1" }, options).connect(first));
  await first.finishAuth(saved["landed"] as URLSearchParams);
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { authProvider: provider }));
  const connected = clientOf(client);
  const { isError, text } = await connected.call("find_image", { query: "acme" });
  assert.equal(isError, false, text);
  await connected.close();
  const tokens = saved["tokens"] as unknown as { access_token: string; refresh_token: string };
  const { aud, client_id: client_ } = claimsOf(tokens.access_token);
  assert.deepEqual([aud, client_], [mcp, clientUrl]);

  const refreshed = await tokenCall(platform, {
    grant_type: "refresh_token",
    refresh_token: tokens.refresh_token,
    client_id: clientUrl,
    resource: mcp,
  });
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body));
  assert.equal(claimsOf(refreshed.body["access_token"])["aud"], mcp);
  const again = await connectMcp("2025-11-25", mcp, String(refreshed.body["access_token"]));
  await again.close();
});

test("the audit log has the client's id with the sign-in", async () => {
  const clientId = site.put("/audited.json");
  const granted = await redeem(clientId, await codeFor(clientId, "ada"));
  assert.equal(granted.status, 200, JSON.stringify(granted.body));
  const { auditEntries } = await platform.ok(
    "GET",
    `/iam/v2/auditEntries?method=oauth.token&uidp.descendants_of=${platform.organization}`,
  );
  assert.ok(
    (auditEntries as Json[]).some(
      ({ details }) => (details as unknown as Record<string, string>)["client"] === clientId,
    ),
  );
});

test("such a token is for MCP alone: neither the platform API nor the registry nor a session takes it", async () => {
  const clientId = site.put("/mcp-alone.json");
  const { body } = await redeem(clientId, await codeFor(clientId, "ada"));
  const token = String(body["access_token"]);
  for (const [method, path, expected] of [
    ["GET", "/registry/v2/repos", 401],
    ["GET", "/v2/", 401],
    ["POST", "/session/links", 403],
  ] as const)
    assert.equal((await platform.call(method, path, { token })).status, expected, path);
  for (const resource of [platform.url, new URL(platform.url).host]) {
    const wider = await tokenCall(platform, {
      grant_type: "refresh_token",
      refresh_token: String(body["refresh_token"]),
      resource,
    });
    assert.deepEqual([wider.status, wider.body["error"]], [400, "invalid_target"]);
  }
});

test("resources are not mixed up: at neither endpoint may a client name another one", async () => {
  const clientId = site.put("/resources.json");
  const browser = openBrowser();
  for (const resource of [platform.url, "https://mcp.example.com/mcp", `${mcp}/`, `${mcp}?x=1`]) {
    const { status, text, location } = await browser.open(wish(clientId, { resource }).url);
    assert.deepEqual([status, location, /resource must be/i.test(text)], [400, "", true], resource);
  }
  const twice = await browser.open(`${wish(clientId).url}&${new URLSearchParams({ resource: platform.url })}`);
  assert.equal(twice.status, 400);
  const granted = await codeFor(clientId, "ada");
  const other = await redeem(clientId, granted, { resource: platform.url });
  assert.deepEqual([other.status, other.body["error"]], [400, "invalid_target"]);
  const late = await redeem(clientId, granted);
  assert.deepEqual([late.status, late.body["error"]], [400, "invalid_grant"], "the code is used up");
  // Without one it is MCP, the only one that it may have.
  const silent = await codeFor(clientId, "ada", { resource: undefined });
  const { body } = await redeem(clientId, silent);
  assert.equal(claimsOf(body["access_token"])["aud"], mcp);
  // The command line may ask for both.
  const own = await codeFor("moorage-cli", "ada");
  const { body: cli } = await redeem("moorage-cli", own);
  assert.deepEqual(
    [claimsOf(cli["access_token"])["aud"], claimsOf(cli["access_token"])["client_id"]],
    [mcp, "moorage-cli"],
  );
});

test("a code is for the client that asked, and so is a refresh token", async () => {
  const [one, other] = [site.put("/one.json"), site.put("/other.json")];
  const stolen = await redeem(other, await codeFor(one, "ada"));
  assert.deepEqual([stolen.status, stolen.body["error"]], [400, "invalid_grant"]);
  const { body } = await redeem(one, await codeFor(one, "ada"));
  const form = { grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) };
  const wrong = await tokenCall(platform, { ...form, client_id: other });
  assert.deepEqual([wrong.status, wrong.body["error"]], [400, "invalid_grant"]);
  assert.equal((await tokenCall(platform, { ...form, client_id: one })).status, 200, "it is not used up");
});

test("a person is always asked: a link that somebody sends leads nowhere by itself", async () => {
  const clientId = site.put("/asked.json", { client_name: "<b>Trust me</b>" });
  const victim = openBrowser();
  const url = `${wish(clientId, { organization: undefined, identity_provider: idp }).url}`;
  const page = await victim.open(url, "http");
  assert.deepEqual([page.status, page.location], [200, ""], "no redirect to the identity provider");
  const { host } = new URL(clientId);
  assert.match(page.text, new RegExp(`<strong>${host}</strong>`));
  assert.match(page.text, /&#60;b&#62;Trust me/);
  assert.match(page.text, /a program on this computer/);
  assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
  // The attacker's own page, and one for another request, prove nothing.
  const attacker = openBrowser();
  const others = linkOn(await attacker.open(url));
  assert.equal((await victim.open(others, people.url)).location, "");
  const changed = new URL(linkOn(page));
  changed.searchParams.set("redirect_uri", "https://assistant.example/back");
  assert.equal((await victim.open(changed.href, people.url)).location, "");
  assert.ok((await victim.open(linkOn(page), people.url)).location.startsWith(people.url), "the person's own choice");
});

test("redirect URIs are those of the document, exactly; of the own machine with any port", async () => {
  const clientId = site.put("/redirects.json", {
    redirect_uris: [
      "http://127.0.0.1/callback",
      "http://localhost:1234/cb?x=1",
      "https://assistant.example/back",
      "com.example.app:/done",
    ],
  });
  const browser = openBrowser();
  const answered = async (redirectUri: string): Promise<number> =>
    (await browser.open(wish(clientId, { redirect_uri: redirectUri }).url)).status;
  for (const uri of [
    "http://127.0.0.1/callback",
    "http://127.0.0.1:49152/callback",
    "http://localhost:1234/cb?x=1",
    "http://localhost:9/cb?x=1",
    "https://assistant.example/back",
    "com.example.app:/done",
  ])
    assert.equal(await answered(uri), 200, uri);
  for (const uri of [
    "http://127.0.0.1:49152/callback/",
    "http://127.0.0.1:49152/other",
    "http://127.0.0.1:49152/callback?x=1",
    "http://127.0.0.1:49152/callback#x",
    "http://user@127.0.0.1:49152/callback",
    "http://[::1]:49152/callback",
    "http://localhost:49152/callback",
    "https://127.0.0.1:49152/callback",
    "http://127.0.0.1:49152@evil.example/callback",
    "http://127.0.0.1:49152/a/../callback",
    "https://assistant.example:444/back",
    "https://assistant.example/back/",
    "https://evil.example/back",
    "com.example.app:/other",
    "javascript:alert(1)",
  ])
    assert.equal(await answered(uri), 400, uri);
});

test("metadata documents that are wrong, forged or too large describe no client", async () => {
  const refused = async (clientId: string, words: RegExp): Promise<void> => {
    const { status, text, location } = await openBrowser().open(wish(clientId).url);
    assert.deepEqual([status, location], [400, ""], clientId);
    assert.match(text, words, clientId);
  };
  const wrong: [fields: Record<string, unknown>, words: RegExp][] = [
    [{ client_id: `${site.url}/official.json` }, /another client_id/],
    [{ client_id: undefined }, /another client_id/],
    [{ redirect_uris: [] }, /redirect_uris must be a list/],
    [{ redirect_uris: "http://127.0.0.1/callback" }, /redirect_uris must be a list/],
    [{ redirect_uris: Array.from({ length: 51 }, () => LANDING) }, /redirect_uris must be a list/],
    [{ redirect_uris: ["http://evil.example/callback"] }, /redirect_uris must be https/],
    [{ redirect_uris: ["javascript:alert(1)"] }, /redirect_uris must be https/],
    [{ redirect_uris: ["data:text/html,x"] }, /redirect_uris must be https/],
    [{ redirect_uris: [7] }, /redirect_uris must be https/],
    [{ token_endpoint_auth_method: "client_secret_basic" }, /token_endpoint_auth_method must be none/],
    [{ client_secret: "x" }, /must not hold a client_secret/],
    [{ grant_types: ["implicit"] }, /grant_types must list/],
    [{ response_types: ["token"] }, /response_types must list/],
    [{ client_uri: "x".repeat(20_000) }, /too large/],
  ];
  for (const [at, [fields, words]] of wrong.entries()) await refused(site.put(`/wrong-${at}.json`, fields), words);

  site.routes.set("/redirect.json", (_, response) =>
    response.writeHead(302, { location: `${site.url}/official.json` }).end(),
  );
  await refused(`${site.url}/redirect.json`, /is a redirect/);
  site.routes.set("/page.json", (_, response) => response.setHeader("content-type", "text/html").end("{}"));
  await refused(`${site.url}/page.json`, /not application\/json/);
  site.routes.set("/text.json", (_, response) => response.setHeader("content-type", "application/json").end("{"));
  await refused(`${site.url}/text.json`, /not well-formed JSON/);
  site.routes.set("/list.json", (_, response) => response.setHeader("content-type", "application/json").end("[]"));
  await refused(`${site.url}/list.json`, /not a JSON object/);
  await refused(`${site.url}/missing.json`, /is not there/);
});

test("client ids that are no https URL with a path are refused before anything is fetched", async () => {
  const before = site.asked.length;
  const { port } = new URL(site.url);
  for (const clientId of [
    site.url.replace("https:", "http:") + "/official.json",
    `${site.url}`,
    `${site.url}/`,
    `${site.url}/a/../official.json`,
    `${site.url}/./official.json`,
    `${site.url}/official.json#x`,
    `https://user:secret@localhost:${port}/official.json`,
    `https://LOCALHOST:${port}/official.json`,
    `${site.url}/${"x".repeat(600)}`,
    "https://",
    "moorage-other",
    "",
  ]) {
    const { status, location } = await openBrowser().open(wish(clientId).url);
    assert.deepEqual([status, location], [400, ""], clientId);
  }
  assert.equal(site.asked.length, before);
});

test("a document is fetched once for many requests, and a wrong one is not asked for at each", async () => {
  const good = site.put("/once.json");
  const bad = site.put("/bad.json", { client_id: "x" });
  for (let count = 0; count < 5; count += 1) {
    assert.equal((await openBrowser().open(wish(good).url)).status, 200);
    assert.equal((await openBrowser().open(wish(bad).url)).status, 400);
  }
  await Promise.all(Array.from({ length: 5 }, () => openBrowser().open(wish(site.put("/together.json")).url)));
  const asked = (path: string): number => site.asked.filter((each) => each === path).length;
  assert.deepEqual([asked("/once.json"), asked("/bad.json"), asked("/together.json")], [1, 1, 1]);
  platform.clock.offsetMs += 600_000;
  assert.equal((await openBrowser().open(wish(good).url)).status, 200);
  assert.equal(asked("/once.json"), 2, "after some minutes it is fetched again");
});

test("where private addresses are refused, documents there are not fetched", async () => {
  const closed = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "0" });
  try {
    const { port } = new URL(site.url);
    const before = site.asked.length;
    for (const host of ["127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "192.168.0.1"]) {
      const url = wish(`https://${host}:${port}/official.json`).url.replace(platform.url, closed.url);
      const { status, text } = await openBrowser().open(url);
      assert.equal(status, 400, host);
      assert.match(text, /not a public one|could not be reached/, host);
    }
    assert.equal(site.asked.length, before);
  } finally {
    await closed.close();
  }
});
