import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openIssuer } from "../../../server/test/support/issuer.ts";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Sessions of browsers that begin with a link or with an access token.
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => platform?.close());

const OWN = { "sec-fetch-site": "same-origin" };

async function newLink(token?: string): Promise<{ secret: string; answer: Answer }> {
  const answer = await platform.call("POST", "/session/links", { token: token ?? (await platform.token()) });
  return { secret: new URL(String(answer.body["url"] ?? platform.url)).hash.slice(1), answer };
}
const take = (link: unknown, headers: Record<string, string> = OWN): Promise<Answer> =>
  platform.call("POST", "/session", { body: { link }, headers });
const cookieOf = ({ headers }: Answer): string => String(headers["set-cookie"]).split(";")[0] ?? "";
const who = (cookie: string): Promise<Answer> => platform.call("GET", "/session", { headers: { cookie } });
const tokenOf = (cookie: string): Promise<Answer> =>
  platform.call("POST", "/session/token", { headers: { cookie, ...OWN } });
const listsGroups = async (token: unknown): Promise<number> =>
  (await platform.call("GET", `/iam/v2/groups/${platform.organization}`, { token: String(token) })).status;
async function narrowed(): Promise<string> {
  const body = { cap: ["repo.list"], scopes: [platform.organization] };
  const answer = await platform.call("POST", "/sts/exchange", { token: await platform.token(), body });
  return String(answer.body["token"]);
}

test("a link signs one browser in, once, as who made it", async () => {
  const { answer, secret } = await newLink();
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.body["url"], `${platform.url}/sign-in/link#${secret}`);
  assert.equal(answer.headers["cache-control"], "no-store");
  const begun = await take(secret);
  assert.equal(begun.status, 200, begun.text);
  assert.match(
    String(begun.headers["set-cookie"]),
    /^moorage_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax$/,
  );
  assert.ok(!String(begun.headers["set-cookie"]).includes(secret));
  assert.equal(begun.body["identity"], platform.owner);
  assert.deepEqual((await who(cookieOf(begun))).body, begun.body);
  assert.equal(await listsGroups((await tokenOf(cookieOf(begun))).body["token"]), 200);
  const again = await take(secret);
  assert.equal(again.status, 401);
  assert.match(again.body.message, /used already, has expired/);
  assert.equal(again.headers["set-cookie"], undefined);
});

test("of tabs that race for a link, one is signed in", async () => {
  const { secret } = await newLink();
  const answers = await Promise.all(Array.from({ length: 5 }, () => take(secret)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401, 401]);
});

test("a link holds for ten minutes, and an identity has ten of them", async () => {
  const [late, inTime] = [await newLink(), await newLink()];
  platform.clock.offsetMs += 599_000;
  assert.equal((await take(inTime.secret)).status, 200);
  platform.clock.offsetMs += 1_001;
  assert.equal((await take(late.secret)).status, 401);
  platform.clock.offsetMs = 0;
  const first = await newLink();
  platform.clock.offsetMs += 1;
  for (let n = 0; n < 10; n += 1) await newLink();
  const rows = await platform.reader.selectFrom("sign_in_links").selectAll().execute();
  assert.equal(rows.length, 10);
  assert.ok(!JSON.stringify(rows).includes(first.secret));
  assert.equal((await take(first.secret)).status, 401);
  platform.clock.offsetMs = 0;
});

test("at a hundred sessions of an identity the one that was not used for longest ends", async () => {
  const identity = await platform.identity(platform.organization);
  const begin = async (): Promise<string> => {
    platform.clock.offsetMs += 1;
    return cookieOf(await platform.call("POST", "/session", { token: await platform.token(identity), headers: OWN }));
  };
  const first = await begin();
  const second = await begin();
  for (let n = 0; n < 99; n += 1) await begin();
  assert.deepEqual([(await who(first)).status, (await who(second)).status], [401, 200]);
  platform.clock.offsetMs = 0;
});

test("pages of other sites begin no session, with neither a link nor a token", async () => {
  const { secret } = await newLink();
  const token = await platform.token();
  for (const headers of [
    {},
    { "sec-fetch-site": "cross-site" },
    { origin: "https://evil.example" },
    { "sec-fetch-site": "same-site", origin: platform.url },
  ] as Record<string, string>[]) {
    assert.equal((await take(secret, headers)).status, 403, JSON.stringify(headers));
    assert.equal((await platform.call("POST", "/session", { token, headers })).status, 403, JSON.stringify(headers));
  }
  assert.equal((await take(secret, { origin: platform.url })).status, 200);
});

test("requests of a wrong form are answered with the field", async () => {
  const field = ({ status, body }: Answer) => [status, body.details[0]?.fieldViolations?.[0]?.field ?? body.message];
  const post = (raw: string, type = "application/json") =>
    platform.call("POST", "/session", { raw, headers: { ...OWN, "content-type": type } });
  for (const [answer, name] of [
    [await post("{}"), "link"],
    [await post(`{"link": "a", "other": "b"}`), "other"],
    [await post(`{"link": 1}`), "link"],
    [await post("["), "body"],
    [await post("link=a", "application/x-www-form-urlencoded"), "body"],
  ] as const) {
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body), new RegExp(`"field":"${name}"`), String(field(answer)));
  }
});

test("a token that is narrowed, is for the registry, or comes from a session makes no link", async () => {
  const session = await take((await newLink()).secret);
  const { body } = await tokenOf(cookieOf(session));
  assert.equal((await newLink(await narrowed())).answer.status, 403);
  assert.equal((await newLink(String(body["token"]))).answer.status, 403);
  const byRegistry = await platform.token(platform.owner, { audience: new URL(platform.bootstrap.registryUrl).host });
  assert.ok([401, 403].includes((await newLink(byRegistry)).answer.status));
  assert.equal((await platform.call("POST", "/session/links")).status, 401);
  // Nor is a session made of a session's token: it would stay when the first one ends.
  assert.equal((await platform.call("POST", "/session", { token: String(body["token"]), headers: OWN })).status, 403);
});

test("the token of a CI job, exchanged for that of its issuer, makes no link", async (t) => {
  const issuer = await openIssuer();
  t.after(() => issuer.close());
  const claimMatch = { issuer: issuer.url, subject: "job", audience: platform.url };
  const body = { name: "ci job", claimMatch };
  await platform.ok("POST", `/iam/v2/identities/${platform.organization}`, body);
  const nowS = Math.floor(platform.clock.nowMs() / 1000);
  const theirs = await issuer.sign({ iss: issuer.url, sub: "job", aud: platform.url, iat: nowS, exp: nowS + 300 });
  const exchanged = await platform.call("POST", "/sts/exchange", { token: theirs, body: { aud: [platform.url] } });
  assert.equal(exchanged.status, 200, exchanged.text);
  const { answer } = await newLink(String(exchanged.body["token"]));
  assert.equal(answer.status, 403, answer.text);
  assert.match(answer.body.message, /makes no link: sign in through/);
});

test("a session of a token has its rights, and ends with it", async () => {
  const token = await narrowed();
  const begun = await platform.call("POST", "/session", { token, headers: OWN });
  assert.equal(begun.status, 200, begun.text);
  const maxAge = Number(/Max-Age=(\d+);/.exec(String(begun.headers["set-cookie"]))?.[1]);
  assert.ok(maxAge > 0 && maxAge <= 3600, String(maxAge));
  const minted = String((await tokenOf(cookieOf(begun))).body["token"]);
  assert.equal(await listsGroups(minted), 404);
  const repos = await platform.call("GET", "/registry/v2/repos", { token: minted });
  assert.equal(repos.status, 200, repos.text);
  platform.clock.offsetMs += 3_601_000;
  assert.equal((await who(cookieOf(begun))).status, 401);
  platform.clock.offsetMs = 0;
  assert.equal((await platform.call("POST", "/session", { token: `${token}x`, headers: OWN })).status, 401);
});

test("a token of a session ends with the session, for the platform, the registry and the exchange", async () => {
  const cookie = cookieOf(await take((await newLink()).secret));
  const token = String((await tokenOf(cookie)).body["token"]);
  const exchanged = await platform.call("POST", "/sts/exchange", { token, body: { cap: ["groups.list"] } });
  const both = [token, String(exchanged.body["token"])];
  for (const one of both) assert.equal(await listsGroups(one), 200);
  const basic = `Basic ${Buffer.from(`_token:${token}`).toString("base64")}`;
  assert.equal((await platform.call("GET", "/token", { headers: { authorization: basic } })).status, 200);
  await platform.call("DELETE", "/session", { headers: { cookie, ...OWN } });
  for (const one of both) assert.equal(await listsGroups(one), 401);
  assert.equal((await platform.call("GET", "/token", { headers: { authorization: basic } })).status, 401);
  assert.equal((await platform.call("POST", "/sts/exchange", { token, body: {} })).status, 401);
});

test("a link of an identity that was changed or removed signs nobody in", async () => {
  const links: string[] = [];
  const identities: string[] = [];
  for (let n = 0; n < 2; n += 1) {
    const identity = await platform.identity(platform.organization);
    identities.push(identity);
    links.push((await newLink(await platform.token(identity))).secret);
  }
  await platform.ok("DELETE", `/iam/v2/identities/${identities[0]}`);
  const claimMatch = { issuer: "https://issuer.example.com", subject: "somebody" };
  await platform.ok("PATCH", `/iam/v2/identities/${identities[1]}`, { claimMatch });
  for (const link of links) assert.equal((await take(link)).status, 401);
});

test("what was made, used and rejected is in the audit log, without the secret", async () => {
  const { secret } = await newLink();
  await take(secret);
  await take(secret);
  const rows = await platform.reader
    .selectFrom("audit_entries")
    .selectAll()
    .where("method", "in", ["session.link", "iam.signIn"])
    .execute();
  const kinds = new Set(
    rows.map(({ method, decision, details, reason }) => [method, decision, details, reason].join()),
  );
  for (const kind of ["session.link,1,{},", `iam.signIn,1,{"by":"link"},`, `iam.signIn,1,{"by":"token"},`])
    assert.ok(kinds.has(kind), `${kind}: ${[...kinds].join("; ")}`);
  assert.ok(!JSON.stringify(rows).includes(secret));
});

// Last: from then on this network may guess no more.
test("after ten wrong links a network waits for ten minutes", async () => {
  platform.clock.offsetMs += 1_200_000;
  for (let n = 0; n < 10; n += 1) assert.equal((await take("A".repeat(43))).status, 401);
  const { secret } = await newLink();
  assert.equal((await take(secret)).status, 429);
  platform.clock.offsetMs += 599_000;
  assert.equal((await take((await newLink()).secret)).status, 429);
  platform.clock.offsetMs += 1_001;
  assert.equal((await take((await newLink()).secret)).status, 200);
});
