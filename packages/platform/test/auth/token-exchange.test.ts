import assert from "node:assert/strict";
import { get } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Capability, ExchangeRefreshTokenRequestSchema, ExchangeRequestSchema } from "@moorage/api";
import { createRemoteJWKSet, decodeJwt, jwtVerify, SignJWT } from "jose";
import { Code } from "../../../kernel/src/errors.ts";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { newKey, openIssuer } from "../../../server/test/support/issuer.ts";
import { openProvider, type RealProvider } from "../../../server/test/support/openid-provider.ts";
import type { Detail } from "../../../server/test/support/platform.ts";

// A real OpenID provider on one side, this server's endpoints on real sockets on the other.
let house: AccessHouse;
let provider: RealProvider;
let identity: string;

before(async () => {
  house = await openAccess();
  provider = await openProvider(house.baseUrl);
});
beforeEach(async () => {
  await house.db.deleteFrom("identities").execute();
  identity = await house.addIdentity({
    case: "claimMatch",
    value: { iss: { case: "issuer", value: provider.url }, sub: { case: "subject", value: "ci" } },
  });
});
after(async () => {
  await provider.close();
  await house.close();
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

interface CallOptions {
  bearer?: string;
  form?: [string, string][];
  json?: object;
  method?: string;
}

async function call(path: string, { bearer, form, json, method }: CallOptions = {}): Promise<Answer> {
  const body = form ? new URLSearchParams(form) : json ? JSON.stringify(json) : undefined;
  const headers = {
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    ...(json && { "content-type": "application/json" }),
  };
  const response = await fetch(`${house.baseUrl}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers,
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** The names of the fields that an INVALID_ARGUMENT blames. */
const blamed = ({ body }: Answer): string[] =>
  (body["details"] as Detail[]).flatMap(({ fieldViolations = [] }) => fieldViolations).map(({ field }) => field);

const whoIs = (token: unknown, audience: "platform" | "registry" = "platform") =>
  house.authenticate(`Bearer ${String(token)}`, audience, house.clock.nowMs);

test("a token of a real provider is exchanged for one of this server, by GET and POST, in query, form and JSON", async () => {
  const bearer = await provider.token();
  const aud = encodeURIComponent(house.baseUrl);
  for (const answer of [
    await call(`/sts/exchange?aud=${aud}&identity=${identity}`, { bearer }),
    await call("/sts/exchange", { bearer }),
    await call("/sts/exchange", {
      bearer,
      form: [
        ["aud", house.baseUrl],
        ["identity", identity],
      ],
    }),
    await call("/sts/exchange", { bearer, json: { aud: [house.baseUrl], identity } }),
  ]) {
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.deepEqual(Object.keys(answer.body), ["token", "refreshToken", "expiry"]);
    assert.match(String(answer.body["expiry"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const caller = await whoIs(answer.body["token"]);
    assert.equal(caller.identity, identity);
    assert.equal(caller.act?.["sub"], "ci");
  }
});

test("issued tokens verify with the published discovery document and keys, are valid for an hour, and name issuer, subject and audience", async () => {
  const { body } = await call("/sts/exchange", { bearer: await provider.token() });
  const discovery = (await call("/.well-known/openid-configuration")).body;
  assert.equal(discovery["issuer"], house.baseUrl);
  const keys = createRemoteJWKSet(new URL(String(discovery["jwks_uri"])));
  const expected = { issuer: house.baseUrl, audience: house.baseUrl, subject: identity, algorithms: ["ES256"] };
  const { payload, protectedHeader } = await jwtVerify(String(body["token"]), keys, expected);
  assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 3600);
  assert.equal(new Date((payload.exp ?? 0) * 1000).toISOString(), body["expiry"]);
  assert.equal(typeof payload.jti, "string");
  assert.equal(protectedHeader.typ, "at+jwt");
  const { keys: published } = (await call("/.well-known/jwks.json")).body as { keys: Record<string, unknown>[] };
  assert.deepEqual(
    published.map((key) => Object.keys(key).sort()),
    [["alg", "crv", "kid", "kty", "use", "x", "y"]],
  );
});

test("only the platform's and the registry's audience can be requested", async () => {
  const bearer = await provider.token();
  const registry = await call(`/sts/exchange?aud=${house.registryAudience}`, { bearer });
  assert.equal((await whoIs(registry.body["token"], "registry")).identity, identity);
  const both = await call(`/sts/exchange?aud=${house.registryAudience}&aud=${encodeURIComponent(house.baseUrl)}`, {
    bearer,
  });
  assert.deepEqual(decodeJwt(String(both.body["token"])).aud, [house.registryAudience, house.baseUrl]);
  const other = await call("/sts/exchange?aud=https://else.where", { bearer });
  assert.equal(other.status, 400);
  assert.deepEqual(blamed(other), ["aud"]);
});

test("tokens can be narrowed to capabilities and groups; an invalid value is an error, never ignored", async () => {
  const bearer = await provider.token();
  const group = newUid("");
  const narrowed = await call(`/sts/exchange?cap=CAP_REPO_LIST&scopes=${group}&scope=${group}`, { bearer });
  const { capabilities, scopes } = await whoIs(narrowed.body["token"]);
  assert.deepEqual([capabilities, scopes], [[Capability.CAP_REPO_LIST], [group]]);
  for (const [query, field] of [
    ["cap=CAP_NOTHING", "cap"],
    ["cap=", "cap"],
    ["cap=1605", "cap"],
    ["cap=CAPABILITY_UNSPECIFIED", "cap"],
    ["cap=__proto__", "cap"],
    ["scopes=x", "scopes"],
    ["scope=", "scopes"],
    ["scop=x", "scop"],
    ["__proto__=x", "__proto__"],
    ["identity=a&identity=b", "identity"],
    ["identity=a&identity_provider=x", "identity"],
  ] as const) {
    const answer = await call(`/sts/exchange?${query}`, { bearer });
    assert.equal(answer.status, 400, query);
    assert.equal(blamed(answer)[0], field, query);
  }
});

test("a token is narrowed by the dotted names of capabilities too, by every way to ask", async () => {
  const wanted = ["repo.list", "manifest.metadata.list", "CAP_EVENTS_LIST"];
  const expected = [Capability.CAP_REPO_LIST, Capability.CAP_MANIFEST_METADATA_LIST, Capability.CAP_EVENTS_LIST];
  const bearer = await provider.token();
  const type = "urn:ietf:params:oauth:token-type:";
  for (const [path, options] of [
    [`/sts/exchange?${wanted.map((cap) => `cap=${cap}`).join("&")}`, { bearer }],
    ["/sts/exchange", { bearer, json: { cap: wanted } }],
    [
      "/sts/token",
      {
        form: [
          ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
          ["subject_token", bearer],
          ["subject_token_type", `${type}jwt`],
          ["scope", wanted.join(" ")],
        ],
      },
    ],
  ] satisfies [string, CallOptions][]) {
    const { status, body } = await call(path, options);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual((await whoIs(body["token"] ?? body["access_token"])).capabilities, expected);
  }
  const data = house.data();
  const raw = await house.service.exchange(data, create(ExchangeRequestSchema, { cap: wanted }), `Bearer ${bearer}`);
  assert.deepEqual((await whoIs(raw.token)).capabilities, expected);
});

test("a missing or malformed token, another HTTP method, and a body too large or of another type are refused", async () => {
  assert.equal((await call("/sts/exchange")).status, 401);
  assert.equal((await call("/sts/exchange", { bearer: "nonsense" })).status, 401);
  const wrong = await call("/sts/exchange", { method: "DELETE" });
  assert.deepEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, POST"]);
  const bearer = await provider.token();
  const twice = await new Promise<number | undefined>((resolve, reject) => {
    const headers = ["host", "x", "authorization", `Bearer ${bearer}`, "authorization", `Bearer ${bearer}`];
    get(`${house.baseUrl}/sts/exchange`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
  assert.equal(twice, 401, "two good tokens are no single one");
  assert.equal((await call("/sts/exchange", { bearer, form: [["identity", "x".repeat(70_000)]] })).status, 400);
  for (const json of [[1], { cap: 7 }, { cap: { a: 1 } }])
    assert.equal((await call("/sts/exchange", { bearer, json })).status, 400);
});

test("of several identities with one subject the request must name one", async () => {
  const value = {
    iss: { case: "issuer" as const, value: provider.url },
    sub: { case: "subject" as const, value: "ci" },
  };
  const twin = await house.addIdentity({ case: "claimMatch", value });
  const bearer = await provider.token();
  const answer = await call("/sts/exchange", { bearer });
  assert.equal(answer.status, 400);
  assert.equal(blamed(answer)[0], "identity");
  assert.equal((await whoIs((await call(`/sts/exchange?identity=${twin}`, { bearer })).body["token"])).identity, twin);
});

test("an exchange updates the identity's lastSeenTime, at most once a minute", async () => {
  const seen = async () => {
    const row = await house.db
      .selectFrom("identities")
      .select("last_seen_time")
      .where("uid", "=", identity)
      .executeTakeFirstOrThrow();
    return row.last_seen_time;
  };
  const first = house.clock.nowMs;
  for (const [aheadMs, expected] of [
    [0, first],
    [59_000, first],
    [1_000, first + 60_000],
  ] as const) {
    house.clock.nowMs += aheadMs;
    assert.equal((await call("/sts/exchange", { bearer: await provider.token() })).status, 200);
    assert.equal(await seen(), expected);
  }
});

test("static keys: a token needs the issuer, subject, audience and keys given, until they expire", async () => {
  const key = newKey("k");
  const end = house.clock.nowMs + 600_000;
  const value = {
    issuer: "offline",
    subject: "robot",
    issuerKeys: JSON.stringify({ keys: [key.jwk] }),
    expirationTime: timestampFromMs(end),
    audiences: ["vault"],
  };
  const uid = await house.addIdentity({ case: "staticKeys", value });
  const claims = { iss: "offline", sub: "robot", aud: "vault", exp: Math.floor(house.clock.nowMs / 1000) + 3600 };
  const sign = (changes: Record<string, unknown> = {}, signer = key) =>
    new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: "RS256", kid: "k" }).sign(signer.privateKey);
  const answer = await call("/sts/exchange", { bearer: await sign() });
  assert.equal((await whoIs(answer.body["token"])).identity, uid);
  assert.ok(Date.parse(String(answer.body["expiry"])) <= end, "no token outlives the keys it came by");
  for (const bearer of [
    await sign({ aud: house.baseUrl }),
    await sign({ iss: "other" }),
    await sign({ sub: "robot2" }),
    await sign({}, newKey("k")),
  ]) {
    assert.equal((await call(`/sts/exchange?identity=${uid}`, { bearer })).status, 401);
  }
  house.clock.nowMs = end;
  assert.equal((await call("/sts/exchange", { bearer: await sign() })).status, 401);
  assert.equal(
    (await call("/sts/exchange_refresh_token", { bearer: String(answer.body["refreshToken"]) })).status,
    401,
  );
  house.clock.nowMs = Date.now();
});

test("a token for the host name of the installation, without a scheme, is accepted where the identity names no audience", async () => {
  const host = new URL(house.baseUrl).host;
  const byName = await openIssuer();
  const token = (): Promise<string> =>
    byName.sign({ iss: byName.url, sub: "ci", aud: host, exp: Math.floor(house.clock.nowMs / 1000) + 600 });
  try {
    const uid = await house.addIdentity({
      case: "claimMatch",
      value: { iss: { case: "issuer", value: byName.url }, sub: { case: "subject", value: "ci" } },
    });
    const answer = await call("/sts/exchange", { bearer: await token() });
    assert.equal((await whoIs(answer.body["token"])).identity, uid);
    const named = await house.addIdentity({
      case: "claimMatch",
      value: {
        iss: { case: "issuer", value: byName.url },
        sub: { case: "subject", value: "ci" },
        aud: { case: "audience", value: house.baseUrl },
      },
    });
    const bearer = await token();
    assert.equal((await call(`/sts/exchange?identity=${named}`, { bearer })).status, 401, "another audience is named");
  } finally {
    await byName.close();
  }
  const key = newKey("k");
  const value = { issuer: "offline", subject: "robot", issuerKeys: JSON.stringify({ keys: [key.jwk] }) };
  await house.addIdentity({ case: "staticKeys", value });
  for (const [aud, status] of [
    [host, 200],
    [house.baseUrl, 200],
    [`other.${host}`, 401],
    [`//${host}`, 401],
  ] as const) {
    const bearer = await new SignJWT({ iss: "offline", sub: "robot", aud, exp: Math.floor(Date.now() / 1000) + 3600 })
      .setProtectedHeader({ alg: "RS256", kid: "k" })
      .sign(key.privateKey);
    assert.equal((await call("/sts/exchange", { bearer })).status, status, aud);
  }
});

test("a refresh token is good for one exchange, for the same rights or fewer; its second use revokes the family", async () => {
  const group = newUid("");
  const refresh = (bearer: unknown, query = "") =>
    call(`/sts/exchange_refresh_token${query}`, { bearer: String(bearer) });
  const tokenOf = ({ body }: Answer, part: string) =>
    (body[part] as { token: string; expiry: string } | undefined)?.token;
  const first = (
    await call(`/sts/exchange?cap=CAP_REPO_LIST&cap=CAP_TAG_LIST&scopes=${group}`, { bearer: await provider.token() })
  ).body["refreshToken"];
  assert.equal((await refresh(first, `?aud=${house.registryAudience}`)).status, 403);
  assert.equal((await refresh(first, "?cap=CAP_REPO_DELETE")).status, 403);
  assert.equal((await refresh(first, `?scopes=${newUid("")}`)).status, 403);
  const narrower = await refresh(first, "?cap=CAP_REPO_LIST&cap=CAP_REPO_DELETE");
  assert.equal(narrower.status, 200, "a bad wish must not have used it up");
  assert.deepEqual((({ capabilities, scopes }) => [capabilities, scopes])(await whoIs(tokenOf(narrower, "token"))), [
    [Capability.CAP_REPO_LIST],
    [group],
  ]);
  const second = tokenOf(narrower, "refreshToken");
  const again = await refresh(second);
  assert.deepEqual((await whoIs(tokenOf(again, "token"))).capabilities, [
    Capability.CAP_REPO_LIST,
    Capability.CAP_TAG_LIST,
  ]);
  assert.equal(
    (again.body["refreshToken"] as { expiry: string }).expiry,
    (narrower.body["refreshToken"] as { expiry: string }).expiry,
    "rotation must not lengthen",
  );
  assert.equal((await refresh(first)).status, 401);
  assert.equal((await refresh(tokenOf(again, "refreshToken"))).status, 401, "the family is revoked");
  for (const bad of ["moorage_rt_x", "x", `moorage_rt_${"A".repeat(43)}`])
    assert.equal((await refresh(bad)).status, 401);
  const rows = await house.db.selectFrom("refresh_tokens").select("hash").execute();
  assert.ok(rows.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash)));
});

test("of two concurrent uses of a refresh token at most one succeeds", async () => {
  const { refreshToken } = (await call("/sts/exchange", { bearer: await provider.token() })).body;
  const answers = await Promise.all(
    [1, 2, 3].map(() => call("/sts/exchange_refresh_token", { bearer: String(refreshToken) })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

test("a refresh token ends when its identity's claim match changes, and after 30 days", async () => {
  const get = async () =>
    String((await call("/sts/exchange", { bearer: await provider.token() })).body["refreshToken"]);
  const [one, two] = [await get(), await get()];
  house.clock.nowMs += 30 * 24 * 3_600_000;
  assert.equal((await call("/sts/exchange_refresh_token", { bearer: one })).status, 401);
  house.clock.nowMs = Date.now();
  await house.db.updateTable("identities").set({ relationship: "" }).where("uid", "=", identity).execute();
  assert.equal((await call("/sts/exchange_refresh_token", { bearer: two })).status, 401);
});

test("RFC 8693: exchange and refresh work as specified, with OAuth's error codes", async () => {
  const grant = "urn:ietf:params:oauth:grant-type:token-exchange";
  const type = "urn:ietf:params:oauth:token-type:";
  const bearer = await provider.token();
  const base: [string, string][] = [
    ["grant_type", grant],
    ["subject_token", bearer],
    ["subject_token_type", `${type}jwt`],
  ];
  const form: [string, string][] = [
    ...base,
    ["audience", house.baseUrl],
    ["scope", "CAP_REPO_LIST"],
    ["identity", identity],
  ];
  const { status, body, headers } = await call("/sts/token", { form });
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers.get("cache-control"), "no-store");
  assert.deepEqual(
    [body["issued_token_type"], body["token_type"], body["expires_in"]],
    [`${type}access_token`, "Bearer", 3600],
  );
  assert.deepEqual((await whoIs(body["access_token"])).capabilities, [Capability.CAP_REPO_LIST]);
  const refreshed = await call("/sts/token", {
    form: [
      ["grant_type", "refresh_token"],
      ["refresh_token", String(body["refresh_token"])],
    ],
  });
  assert.deepEqual((await whoIs(refreshed.body["access_token"])).capabilities, [Capability.CAP_REPO_LIST]);
  for (const [form, error] of [
    [[], "invalid_request"],
    [[["grant_type", "password"]], "unsupported_grant_type"],
    [base.slice(0, 2), "invalid_request"],
    [[...base, ...base], "invalid_request"],
    [[...base, ["audience", "https://else.where"]], "invalid_target"],
    [[...base, ["resource", "https://else.where"]], "invalid_target"],
    [[...base, ["scope", "admin"]], "invalid_scope"],
    [[...base, ["scope", " "]], "invalid_scope"],
    [[...base, ["actor_token", "x"]], "invalid_request"],
    [
      [
        ["grant_type", grant],
        ["subject_token", "x"],
        ["subject_token_type", `${type}jwt`],
      ],
      "invalid_request",
    ],
    [
      [
        ["grant_type", "refresh_token"],
        ["refresh_token", "x"],
      ],
      "invalid_grant",
    ],
  ] as [[string, string][], string][]) {
    const answer = await call("/sts/token", { form });
    assert.deepEqual([answer.status, answer.body["error"]], [400, error], JSON.stringify(form));
    assert.equal(typeof answer.body["error_description"], "string");
  }
});

test("RFC 6749: parameters without a value are omitted, and the answer has the scope where it is another than asked", async () => {
  const type = "urn:ietf:params:oauth:token-type:";
  const base: [string, string][] = [
    ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
    ["subject_token", await provider.token()],
    ["subject_token_type", `${type}jwt`],
  ];
  const ask = async (...form: [string, string][]) => {
    const { status, body } = await call("/sts/token", { form });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  // What clients send whose settings have no value.
  const empty = ["scope", "audience", "resource", "identity", "identity_provider", "requested_token_type"].map(
    (name): [string, string] => [name, ""],
  );
  const whole = await ask(...base, ...empty, ["actor_token", ""], ["actor_token_type", ""], ["subject_token", ""]);
  assert.equal((await whoIs(whole["access_token"])).capabilities, undefined);
  assert.ok(!("scope" in whole), "there are no words for all rights");

  const refresh = (held: Record<string, unknown>, ...form: [string, string][]) =>
    ask(["grant_type", "refresh_token"], ["refresh_token", String(held["refresh_token"])], ...form);
  // Words of OpenID clients narrow nothing: authorize takes them, and so do the others.
  const openId = await refresh(whole, ["scope", "openid profile email offline_access"], ["client_id", ""]);
  assert.equal((await whoIs(openId["access_token"])).capabilities, undefined);

  const narrow = await ask(...base, ["scope", "CAP_REPO_LIST tag.list"]);
  assert.ok(!("scope" in narrow), "it is what was asked for, under whatever name");
  const silent = await refresh(narrow);
  assert.equal(silent["scope"], "CAP_REPO_LIST CAP_TAG_LIST");
  const less = await refresh(silent, ["scope", "openid repo.list CAP_TAG_DELETE"]);
  assert.equal(less["scope"], "CAP_REPO_LIST");
  assert.deepEqual((await whoIs(less["access_token"])).capabilities, [Capability.CAP_REPO_LIST]);
});

test("the gRPC service answers the same as the HTTP endpoints", async () => {
  const authorization = `Bearer ${await provider.token()}`;
  const raw = await house.service.exchange(
    house.data(),
    create(ExchangeRequestSchema, { aud: [house.baseUrl], cap: ["CAP_REPO_LIST"] }),
    authorization,
  );
  assert.equal((await whoIs(raw.token)).identity, identity);
  assert.equal(raw.expiry && timestampMs(raw.expiry), (decodeJwt(raw.token).exp ?? 0) * 1000);
  const pair = await house.service.exchangeRefreshToken(
    house.data(),
    create(ExchangeRefreshTokenRequestSchema),
    `Bearer ${raw.refreshToken}`,
  );
  assert.deepEqual((await whoIs(pair.token?.token)).capabilities, [Capability.CAP_REPO_LIST]);
  assert.notEqual(pair.refreshToken?.token, raw.refreshToken);
  await assert.rejects(house.service.exchange(house.data(), create(ExchangeRequestSchema), undefined), {
    code: Code.Unauthenticated,
  });
});
