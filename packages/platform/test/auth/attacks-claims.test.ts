import assert from "node:assert/strict";
import { sign } from "node:crypto";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { type AccessHouse, openAccess } from "../../../server/test/support/access.ts";
import { attackOn, NAMELESS, refused, saying } from "../../../server/test/support/attacks.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";

// Claims that are almost right: issuers, audiences, times, and claims of every JSON type.
let house: AccessHouse;
let issuer: Issuer;
let identity: string;
const { claims, exchange, matching, seconds, unaccepted, unusable } = attackOn(() => ({ house, issuer }));

before(async () => {
  house = await openAccess();
});
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  identity = await house.addIdentity(matching("robot"));
});
afterEach(() => issuer.close());

describe("an issuer's name", () => {
  const variants = (url: string): string[] => {
    const { host, port } = new URL(url);
    return [
      `${url}/`,
      `${url}//`,
      `${url}?`,
      `${url}?a=b`,
      `${url}#`,
      `${url}#a`,
      `${url}/.`,
      `${url}/..`,
      `${url}/a/..`,
      `${url}/%2e%2e/`,
      `http://user@${host}`,
      `http://:@${host}`,
      `http://user:password@${host}/`,
      url.toUpperCase(),
      `HTTP://${host}`,
      ` ${url}`,
      `${url} `,
      `${url}\n`,
      `http:\\\\${host}`,
      `http:/${host}`,
      `http://127.1:${port}`,
      `http://localhost:${port}`,
      `http://${host}.`,
      `https://${host}`,
      `//${host}`,
      host,
      url.slice(0, -1),
    ];
  };

  test("in another spelling is another issuer: the token is refused without a request to it", async () => {
    for (const iss of variants(issuer.url)) await unaccepted(exchange(await issuer.sign(claims({ iss }))), { iss });
    for (const iss of [undefined, null, 1, [issuer.url], { url: issuer.url }, true]) {
      const work = exchange(await issuer.sign(claims({ iss })), { identity });
      await assert.rejects(work, { code: 16 });
    }
    assert.deepEqual(issuer.requests, []);
    await exchange(await issuer.sign(claims()));
  });

  test("that matches a pattern is asked only at its own address", async () => {
    const anything = {
      iss: { case: "issuerPattern" as const, value: ".*" },
      sub: { case: "subjectPattern" as const, value: ".*" },
    };
    const named = await house.addIdentity({ case: "claimMatch", value: anything });
    const { host } = new URL(issuer.url);
    const hostile = [
      `${issuer.url}?`,
      `${issuer.url}/?a`,
      `${issuer.url}#a`,
      `${issuer.url}/a/../b`,
      `${issuer.url}/./`,
      `${issuer.url}/%2E%2E/b`,
      `http://user@${host}`,
      `http://:secret@${host}`,
      "file:///etc/passwd",
      `ftp://${host}`,
      "data:application/json,{}",
      "javascript:0",
      "x",
      "",
      `${issuer.url}\\@evil.example`,
      `${issuer.url}/ a`,
    ];
    for (const iss of hostile)
      await unaccepted(exchange(await issuer.sign(claims({ iss })), { identity: named }), { identity: named, iss });
    assert.deepEqual(issuer.requests, []);
    await exchange(await issuer.sign(claims()), { identity: named });
  });

  test("its keys are read from the URL in its discovery document, which must be a plain URL as well", async () => {
    const { host } = new URL(issuer.url);
    const paths = ["/jwks", "/elsewhere"];
    for (const [uri, because] of [
      [`http://user@${host}/jwks`, "a URL with a user name"],
      ["file:///etc/passwd", "not an https URL"],
      [`ftp://${host}/jwks`, "not an https URL"],
      ["/jwks", "not a URL"],
      ["", "not a URL"],
      [7, "its discovery document names no keys"],
      [null, "its discovery document names no keys"],
      [[`${issuer.url}/jwks`], "its discovery document names no keys"],
    ] as const) {
      const document = JSON.stringify({ issuer: issuer.url, jwks_uri: uri });
      issuer.routes.set("/.well-known/openid-configuration", (_request, response) => response.end(document));
      await unusable(exchange(await issuer.sign(claims())), because);
      house.clock.nowMs += 6_000;
    }
    assert.deepEqual(
      issuer.requests.filter((path) => paths.includes(path)),
      [],
    );
  });
});

test("an audience that is almost ours is refused: another case, a part, a longer text, lists with members of other types", async () => {
  const own = house.baseUrl;
  for (const aud of [
    own.toUpperCase(),
    own.replace("http", "HTTP"),
    own.slice(0, -1),
    own.slice(1),
    ` ${own}`,
    `${own} `,
    `${own}/`,
    `${own}?`,
    `${own}#`,
    `x${own}`,
    `${own},x`,
    [own.toUpperCase()],
    [own, null],
    [own, [own]],
    [own, {}],
    [[own]],
    [[]],
    null,
    true,
    1,
    {},
    { 0: own, length: 1 },
  ])
    await saying(
      exchange(await issuer.sign(claims({ aud }))),
      `${NAMELESS} does not accept claim aud, which is ${JSON.stringify(aud)}`,
    );
  await exchange(await issuer.sign(claims({ aud: [own] })));
});

test("times are accepted to the second at their limits, and not beyond", async () => {
  for (const changes of [
    { exp: seconds(1) },
    { exp: seconds(1) + 0.5 },
    { nbf: seconds(60), iat: seconds(60) },
    { nbf: 0, iat: 0 },
  ]) {
    await exchange(await issuer.sign(claims(changes)));
  }
  for (const changes of [
    { exp: seconds(0) },
    { exp: 0 },
    { exp: -1 },
    { exp: true },
    { exp: [seconds(300)] },
    { exp: String(seconds(300)) },
    { exp: 100_000_000_000 },
    { exp: 1e308 },
    { nbf: seconds(62) },
    { iat: seconds(62) },
    { nbf: null },
    { iat: "now" },
    { nbf: -1 },
    { iat: 1e300 },
  ]) {
    const [[claim, value] = []] = Object.entries(changes);
    const words = claim === "exp" ? "it has expired" : "it is not valid yet";
    await saying(exchange(await issuer.sign(claims(changes))), `${words}: claim ${claim} is ${JSON.stringify(value)}`);
  }
});

test("whole numbers beyond 2^53 are compared digit by digit, alone or in a list", async () => {
  const uid = await house.addIdentity({
    case: "claimMatch",
    value: {
      iss: { case: "issuer", value: issuer.url },
      sub: { case: "subject", value: "robot" },
      claims: { project: "9007199254740993" },
      claimPatterns: { run: "1234567890123456789[0-9]" },
    },
  });
  // JavaScript writes no such numbers, so the parts of the token are made by hand.
  const token = (project: string, run = "12345678901234567891"): string => {
    const part = (text: string): string => Buffer.from(text).toString("base64url");
    const body = JSON.stringify(claims()).replace(/}$/, `,"project":${project},"run":${run}}`);
    const signed = `${part(JSON.stringify({ alg: "RS256", kid: issuer.key.kid }))}.${part(body)}`;
    return `${signed}.${sign("sha256", Buffer.from(signed), issuer.key.privateKey).toString("base64url")}`;
  };
  for (const project of ["9007199254740993", "[1, 9007199254740993]", '"9007199254740993"'])
    await exchange(token(project), { identity: uid });
  await exchange(token("9007199254740993", "[12345678901234567890]"), { identity: uid });
  for (const project of ["9007199254740992", "9007199254740994", "[9007199254740992]", "9007199254740993.5", "1e400"])
    await assert.rejects(exchange(token(project), { identity: uid }), /does not accept claim project/, project);
  await assert.rejects(exchange(token("9007199254740993", "12345678901234567901"), { identity: uid }), /claim run/);
});

test("custom claims of every JSON type: text and values written as the same text match, alone or in a list, and no inherited property", async () => {
  const uid = await house.addIdentity({
    case: "claimMatch",
    value: {
      iss: { case: "issuer", value: issuer.url },
      sub: { case: "subject", value: "robot" },
      claims: { text: "a", number: "100", flag: "true", zero: "0" },
      claimPatterns: { any: ".*", some: "[a-z]+" },
    },
  });
  const good = { text: "a", number: 100, flag: true, zero: 0, any: "", some: "x" };
  await exchange(await issuer.sign(claims(good)), { identity: uid });
  await exchange(await issuer.sign(claims({ ...good, number: "100", flag: "true", any: 1 })), { identity: uid });
  // One element of a list is enough.
  for (const changes of [
    { text: ["a"] },
    { text: ["b", null, { a: "a" }, "a"] },
    { number: [100] },
    { flag: ["x", true] },
    { some: ["x"] },
    { some: ["A", "x"] },
  ])
    await exchange(await issuer.sign(claims({ ...good, ...changes })), { identity: uid });
  for (const changes of [
    { text: ["b"] },
    { text: [["a"]] },
    { text: [] },
    { text: ["A", "a "] },
    { text: { a: "a" } },
    { text: null },
    { text: "A" },
    { text: "a " },
    { text: "" },
    { text: 0 },
    { number: 100.5 },
    { number: "1e2" },
    { number: true },
    { flag: 1 },
    { flag: "True" },
    { zero: false },
    { zero: null },
    { zero: "" },
    { zero: "-0" },
    { any: null },
    { any: [] },
    { any: {} },
    { any: undefined },
    { some: ["A", "1"] },
    { some: { toString: "x" } },
  ]) {
    const [[claim] = []] = Object.entries(changes);
    await assert.rejects(
      exchange(await issuer.sign(claims({ ...good, ...changes })), { identity: uid }),
      (error: { code: number; message: string }) =>
        error.code === 16 && error.message.includes(`does not accept claim ${claim}, which is `),
      JSON.stringify(changes),
    );
  }
  for (const name of ["constructor", "toString", "hasOwnProperty", "valueOf"]) {
    const inherits = await house.addIdentity({
      case: "claimMatch",
      value: {
        iss: { case: "issuer", value: issuer.url },
        sub: { case: "subject", value: "robot" },
        claimPatterns: { [name]: ".*" },
      },
    });
    await saying(
      exchange(await issuer.sign(claims()), { identity: inherits }),
      `identity ${inherits} does not accept claim ${name}, which is absent`,
    );
    await exchange(await issuer.sign(claims({ [name]: "own" })), { identity: inherits });
  }
});

test("a subject that another identity uses again gets no rights of the first one", async () => {
  const bearer = await issuer.sign(claims());
  const first = await exchange(bearer, { identity });
  await house.db.deleteFrom("identities").where("uid", "=", identity).execute();
  const next = await house.addIdentity(matching("robot"));
  await refused(house.authenticate(`Bearer ${first.token}`, "platform", house.clock.nowMs));
  await refused(exchange(first.token));
  await refused(house.exchanger.refresh({ bearer: first.refreshToken, audiences: [] }, house.data()));
  await unaccepted(exchange(bearer, { identity }), { identity });
  assert.equal(
    (await house.tokens.read((await exchange(bearer, { identity: next })).token, house.clock.nowMs)).identity,
    next,
  );
});
