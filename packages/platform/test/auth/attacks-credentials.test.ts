import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { GroupsService } from "@moorage/api";
import { decodeJwt } from "jose";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { type Answer, blamed, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Attacks that a handler must refuse: more than one token, a token of another kind, scopes that narrow nothing.
let platform: Platform;
let issuer: Issuer;
let root: string;
let owner: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  root = platform.organization;
  owner = await platform.token();
});
after(async () => {
  await issuer.close();
  await platform.close();
});

/** A request with its headers as given, a repeated header sent twice. */
function raw(method: string, path: string, headers: [string, string][]): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sent = ["host", new URL(platform.url).host, "content-type", "application/json", ...headers.flat()];
  request(platform.url + path, { method, headers: sent, agent: false, timeout: 60_000 }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .on("error", reject)
    .end();
  return promise;
}

test("two tokens, a token in two parts, and none are refused by every handler, even the same token twice", async () => {
  const registry = await platform.token(platform.owner, { audience: new URL(platform.bootstrap.registryUrl).host });
  for (const [method, path, token] of [
    ["GET", "/iam/v2/groups", owner],
    ["POST", `/iam/v2/groups/${root}`, owner],
    ["GET", "/v2/", registry],
    ["GET", "/v2/acme/app/manifests/v1", registry],
    ["GET", "/sts/exchange", owner],
    ["POST", "/moorage.iam.v2.GroupsService/ListGroups", owner],
  ] as const) {
    const good: [string, string] = ["authorization", `Bearer ${token}`];
    assert.notEqual(await raw(method, path, [good]), 401, path);
    for (const headers of [
      [],
      [good, good],
      [good, ["Authorization", "Bearer x"]],
      [["AUTHORIZATION", "Bearer x"], good],
      [good, ["authorization", ""]],
      [["authorization", `Bearer ${token}, Bearer ${token}`]],
      [["authorization", `Bearer ${token},x`]],
      [["authorization", `Bearer ${token} x`]],
      [["authorization", token]],
      [["authorization", `Token ${token}`]],
      [["authorization", "Bearer"]],
      [["authorization", ""]],
      [["proxy-authorization", `Bearer ${token}`]],
      [["cookie", `authorization=Bearer ${token}`]],
    ] as [string, string][][])
      assert.equal(await raw(method, path, headers), 401, `${path} ${JSON.stringify(headers).replaceAll(token, "…")}`);
    assert.equal(await raw(method, `${path}?access_token=${token}`, []), 401, "a token in a URL ends up in logs");
  }
});

test("tokens of another kind are refused: another issuer's, a refresh token, one for the registry, one for some repositories", async () => {
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${root}`, {
    name: "ci",
    claimMatch: { issuer: issuer.url, subject: "robot" },
  });
  const now = Math.floor(platform.clock.nowMs() / 1000);
  const external = await issuer.sign({
    iss: issuer.url,
    sub: "robot",
    aud: platform.bootstrap.baseUrl,
    iat: now,
    exp: now + 300,
  });
  const exchanged = await platform.call("GET", `/sts/exchange?identity=${uid}`, { token: external });
  assert.equal(exchanged.status, 200, exchanged.text);
  const host = new URL(platform.bootstrap.registryUrl).host;
  const basic = (password: string): Record<string, string> => ({
    authorization: `Basic ${Buffer.from(`any:${password}`).toString("base64")}`,
  });
  const repositories = String(
    (await platform.call("GET", "/token?scope=repository:acme/app:pull", { headers: basic(owner) })).body["token"],
  );
  const wrong = [
    external,
    String(exchanged.body["refreshToken"]),
    await platform.token(platform.owner, { audience: host }),
    repositories,
  ];
  for (const token of wrong) {
    assert.equal((await platform.call("GET", `/iam/v2/groups/${root}`, { token })).status, 401);
    const { error } = await platform.grpc.call(GroupsService.method.getGroup, { uid: root }, token);
    assert.equal((error as { code?: number } | undefined)?.code, 16);
  }
  for (const token of [external, String(exchanged.body["refreshToken"])])
    assert.equal((await platform.call("GET", "/v2/", { token })).status, 401);
  assert.equal((await platform.call("GET", "/v2/", { token: owner })).status, 401, "a good token for another audience");
  for (const token of [repositories, String(exchanged.body["refreshToken"])]) {
    assert.equal((await platform.call("GET", "/sts/exchange", { token })).status, 401);
  }
  assert.equal(
    (await platform.call("GET", "/sts/exchange_refresh_token", { token: owner })).status,
    401,
    "a token is no refresh token",
  );
  assert.equal(
    (await platform.call("GET", "/token?scope=repository:acme/app:pull", { headers: basic(repositories) })).status,
    401,
  );
});

describe("a narrowing parameter", () => {
  const exchange = (token: string, parameters: object): Promise<Answer> =>
    platform.call("POST", "/sts/exchange", { token, body: parameters });
  const capsOf = (answer: Answer): unknown => decodeJwt(String(answer.body["token"]))["cap"];
  const scopesOf = (answer: Answer): unknown => decodeJwt(String(answer.body["token"]))["scopes"];

  test("is an error when it is empty or unknown: it is never ignored", async () => {
    for (const parameters of [
      { cap: [] },
      { scopes: [] },
      { scope: [] },
      { cap: "" },
      { scopes: [""] },
      { cap: ["CAP_REPO_LIST", ""] },
      { cap: ["CAP_REPO_LIST", "CAP_OF_TOMORROW"] },
      { cap: ["cap_repo_list"] },
      { cap: [" CAP_REPO_LIST"] },
      { cap: [null] },
      { cap: null },
      { scopes: null },
      { scopes: [root, null] },
      { scopes: [`${root}/`] },
      { scopes: [`${root} `] },
      { scopes: [root.toUpperCase()] },
      { scopes: ["*"] },
      { scopes: [`${root}/../x`] },
      { caps: ["CAP_REPO_LIST"] },
      { Scopes: [root] },
    ]) {
      const answer = await exchange(owner, parameters);
      assert.equal(answer.status, 400, `${JSON.stringify(parameters)} ${answer.text}`);
      assert.deepEqual(
        blamed(answer).map((field) => (field === "scopes" ? "scope" : field)),
        [Object.keys(parameters)[0]?.replace(/^scopes$/, "scope")],
      );
    }
  });

  test("never widens later: exchanged again, for the registry, by another parameter, for a sibling whose uid begins alike", async () => {
    const group = (await platform.group(root)).uid;
    const [below, sibling] = [(await platform.group(group)).uid, (await platform.group(root)).uid];
    const first = await exchange(owner, { cap: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST"], scopes: [group] });
    const token = String(first.body["token"]);
    for (const [parameters, caps, scopes] of [
      [{}, ["CAP_REPO_LIST", "CAP_MANIFEST_LIST"], [group]],
      [{ scopes: [root] }, ["CAP_REPO_LIST", "CAP_MANIFEST_LIST"], [group]],
      [{ scopes: [below] }, ["CAP_REPO_LIST", "CAP_MANIFEST_LIST"], [below]],
      [{ cap: ["CAP_REPO_LIST", "CAP_REPO_DELETE"] }, ["CAP_REPO_LIST"], [group]],
      [{ scope: [root, sibling, below] }, ["CAP_REPO_LIST", "CAP_MANIFEST_LIST"], [group, below]],
    ] as const) {
      const again = await exchange(token, parameters);
      assert.equal(again.status, 200, again.text);
      assert.deepEqual([capsOf(again), scopesOf(again)], [caps, scopes], JSON.stringify(parameters));
    }
    for (const parameters of [
      { scopes: [sibling] },
      { cap: ["CAP_REPO_DELETE"] },
      { scopes: [`${group.slice(0, -1)}${group.endsWith("0") ? "1" : "0"}`] },
    ]) {
      assert.equal((await exchange(token, parameters)).status, 403, JSON.stringify(parameters));
    }
    assert.equal((await exchange(token, { scopes: [`${group}0`] })).status, 400);
    // The token endpoint applies the same limits: pulling needs a capability that is not among them.
    const basic = { authorization: `Basic ${Buffer.from(`any:${token}`).toString("base64")}` };
    const { body } = await platform.call("GET", "/token?scope=repository:acme/app:pull,push,delete", {
      headers: basic,
    });
    const registry = decodeJwt(String(body["token"]));
    assert.deepEqual(
      [registry["cap"], registry["scopes"], registry["access"]],
      [["CAP_REPO_LIST", "CAP_MANIFEST_LIST"], [group], []],
    );
  });

  test("a repository's token is valid for that name alone, and for its actions", async () => {
    const basic = { authorization: `Basic ${Buffer.from(`any:${owner}`).toString("base64")}` };
    const ask = async (scope: string): Promise<string> =>
      String((await platform.call("GET", `/token?scope=${scope}`, { headers: basic })).body["token"]);
    const token = await ask("repository:acme/app:pull");
    assert.equal(
      (await platform.call("GET", "/v2/acme/app/manifests/v1", { token })).status,
      404,
      "covered, and not there",
    );
    for (const name of ["acme/app2", "acme/ap", "acme/app/x", "acme/app-x", "acme/xapp", "public/app"]) {
      assert.equal((await platform.call("GET", `/v2/${name}/manifests/v1`, { token })).status, 403, name);
    }
    assert.equal(
      (await platform.call("POST", "/v2/acme/app/blobs/uploads/", { token })).status,
      401,
      "challenged for more",
    );
    for (const [scope, actions] of [
      ["repository:acme/app:everything", []],
      ["repository:acme/app:", []],
      ["repository():acme/app:pull", []],
      // Docker asks so for a plugin, and for nothing beside: it is the repository of that name.
      ["repository(plugin):acme/app:pull", ["pull"]],
      ["repository(plugin):nowhere/app:pull,push", []],
    ] as const) {
      const { access } = decodeJwt<{ access: object[] }>(await ask(scope));
      assert.deepEqual(
        access.flatMap((one) => (one as { actions: string[] }).actions),
        actions,
        scope,
      );
    }
  });
});

test("a claim match that is duplicate, empty or open on one side is refused before it is stored", async () => {
  const good = { issuer: "https://ci.example.com", subject: "robot" };
  const post = (body: string): Promise<Answer> =>
    platform.call("POST", `/iam/v2/identities/${root}`, { token: owner, raw: body });
  const made = async (): Promise<string> => (await platform.ok("GET", "/iam/v2/identities")).totalCount;
  const count = await made();
  for (const claimMatch of [
    { ...good, issuerPattern: ".*" },
    { ...good, subjectPattern: ".*" },
    { ...good, audience: "a", audiencePattern: ".*" },
    { issuer: "https://ci.example.com" },
    { subject: "robot" },
    { ...good, subject: "" },
    { ...good, issuer: "" },
    { ...good, audience: "" },
    { ...good, audiencePattern: "" },
    { ...good, claims: { "": "x" } },
    { ...good, claimPatterns: { ref: "" } },
    { ...good, claimPatterns: { ref: "(" } },
    { ...good, claimPatterns: { ref: "(?=x)" } },
    { ...good, claims: { run: 7 } },
    { ...good, claims: { run: null } },
    { ...good, issuer: "https://ci.example.com/a/../b" },
    { ...good, issuer: "https://user@ci.example.com" },
    { issuer: good.issuer, subjectPattern: "" },
  ]) {
    const answer = await post(JSON.stringify({ name: "ci", claimMatch }));
    assert.equal(answer.status, 400, `${JSON.stringify(claimMatch)} ${answer.text}`);
  }
  for (const body of [
    '{"name":"ci","claimMatch":{"issuer":"https://a.example.com","subject":"x"},"staticKeys":{"issuer":"i","subject":"s","issuerKeys":"{}"}}',
    '{"name":"ci","claimMatch":{"issuer":"https://a.example.com","subject":"x"},"claim_match":{"issuer":"https://b.example.com","subject":"x"}}',
  ]) {
    const answer = await post(body);
    assert.equal(answer.status, 400, `${body} ${answer.text}`);
  }
  assert.equal(await made(), count);
});
