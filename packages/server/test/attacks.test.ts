import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { Capability } from "@moorage/api";
import { Code, MoorageError } from "../src/errors.ts";
import { guardedFetch } from "../src/base/fetch.ts";
import { isWithin, newUid } from "../src/base/uid.ts";
import { isWrongAudience } from "../src/access/index.ts";
import { type AccessHouse, openAccess } from "./support/access.ts";
import { type Issuer, newKey, openIssuer } from "./support/issuer.ts";

// One test an attack: each begins with a token that is accepted, changes the one thing, and must be refused.
let house: AccessHouse;
let issuer: Issuer;
let identity: string;

before(async () => { house = await openAccess(); });
after(() => house.close());
beforeEach(async () => {
  issuer = await openIssuer();
  identity = await house.addIdentity(matching("robot"));
});

afterEach(() => issuer.close());

const matching = (subject: string) => ({
  case: "claimMatch" as const, value: { iss: { case: "issuer" as const, value: issuer.url }, sub: { case: "subject" as const, value: subject } },
});
const seconds = (offset = 0): number => Math.floor(house.clock.nowMs / 1000) + offset;
const claims = (changes: Record<string, unknown> = {}) => ({
  iss: issuer.url, sub: "robot", aud: house.baseUrl, iat: seconds(), exp: seconds(300), ...changes,
});
const exchange = (bearer: string, rest: { identity?: string; audiences?: string[]; capabilities?: string[]; scopes?: string[] } = {}) =>
  house.exchanger.exchange({ bearer, audiences: [], ...rest }, house.data());
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

async function refused(work: Promise<unknown>, code: number = Code.Unauthenticated): Promise<void> {
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof MoorageError, String(error));
    assert.equal(error.code, code, error.message);
    if (code === Code.Unauthenticated) assert.equal(error.message, "Unauthenticated: the token was not accepted");
    return true;
  });
}

/** Refused in the words for whatever is not to be told apart: of an identity that does not name the issuer, and of a token that it did not sign. */
async function unaccepted(work: Promise<unknown>, { identity: named = "", iss = issuer.url }: { identity?: string; iss?: unknown } = {}): Promise<void> {
  const who = named === "" ? "no identity was named, and none with its issuer and subject accepts" : `no identity ${named} accepts`;
  await saying(work, `${who} this token of issuer ${JSON.stringify(iss)}`);
}

/** Refused, and told just this. */
async function saying(work: Promise<unknown>, words: string): Promise<void> {
  await assert.rejects(work, { code: Code.Unauthenticated, message: `Unauthenticated: the token was not accepted: ${words}` });
}

const NAMELESS = "the identity with this issuer and subject";

describe("external tokens", () => {
  test("the untouched token is accepted, with its identity and without", async () => {
    const { token } = await exchange(await issuer.sign(claims()));
    assert.equal((await house.authenticate(`Bearer ${token}`, "platform", house.clock.nowMs)).identity, identity);
    assert.equal((await house.tokens.read((await exchange(await issuer.sign(claims()), { identity })).token, house.clock.nowMs)).identity, identity);
  });

  test("algorithm confusion: HS256 with the public key as the secret", async () => {
    const input = `${encode({ alg: "HS256", kid: "one" })}.${encode(claims())}`;
    for (const secret of [issuer.key.publicKey.export({ type: "spki", format: "pem" }), JSON.stringify(issuer.key.jwk)]) {
      await unaccepted(exchange(`${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`));
    }
  });

  test("another algorithm than the key's own", async () => {
    await unaccepted(exchange(await issuer.sign(claims(), { alg: "PS256" })));
    await unaccepted(exchange(await issuer.sign(claims(), { alg: "RS512" })));
  });

  test("no algorithm, no signature", async () => {
    for (const alg of ["none", "None", "", "nOnE"]) {
      await refused(exchange(`${encode({ alg, kid: "one" })}.${encode(claims())}.`));
      await unaccepted(exchange(`${encode({ alg, kid: "one" })}.${encode(claims())}.AA`));
    }
  });

  test("a changed body, a foreign signature", async () => {
    const [header, , signature] = (await issuer.sign(claims())).split(".");
    await unaccepted(exchange(`${header}.${encode(claims({ exp: seconds(301) }))}.${signature}`));
    await unaccepted(exchange(await issuer.sign(claims(), {}, newKey("one").privateKey)));
  });

  test("wrong audience", async () => {
    for (const aud of [undefined, "", [], "https://else.where", `${house.baseUrl}/`, `${house.baseUrl}.evil.example`, [house.baseUrl, 1],
      { [house.baseUrl]: 1 }]) {
      await saying(exchange(await issuer.sign(claims({ aud }))), `${NAMELESS} does not accept claim aud, which is ${JSON.stringify(aud) ?? "absent"}`);
    }
    await exchange(await issuer.sign(claims({ aud: ["https://else.where", house.baseUrl] })));
  });

  test("expired, future and timeless tokens", async () => {
    for (const changes of [{ exp: seconds(0) }, { exp: seconds(-1) }, { exp: undefined }, { exp: "9999999999" }, { exp: null }, { exp: 1e300 }]) {
      await saying(exchange(await issuer.sign(claims(changes))), `it has expired: claim exp is ${JSON.stringify(changes.exp) ?? "absent"}`);
    }
    for (const changes of [{ nbf: seconds(120) }, { iat: seconds(120) }, { nbf: "0" }, { iat: -5 }]) {
      const [[claim, value] = []] = Object.entries(changes);
      await saying(exchange(await issuer.sign(claims(changes))), `it is not valid yet: claim ${claim} is ${JSON.stringify(value)}`);
    }
    for (const changes of [{ exp: seconds(-1) }, { nbf: seconds(120) }, { aud: "https://else.where" }]) {
      await unaccepted(exchange(await issuer.sign(claims(changes), {}, newKey("one").privateKey)));
    }
    await exchange(await issuer.sign(claims({ nbf: seconds(30), iat: seconds(30) })));
  });

  test("unknown kid; a rotated one is found once the issuer publishes it, and goes when it withdraws it", async () => {
    await exchange(await issuer.sign(claims()));
    const next = newKey("two");
    await unaccepted(exchange(await issuer.sign(claims(), { kid: "two" }, next.privateKey)));
    house.clock.nowMs += 31_000;
    await unaccepted(exchange(await issuer.sign(claims(), { kid: "two" }, next.privateKey)));
    const asked = issuer.requests.length;
    for (let index = 0; index < 20; index += 1) await unaccepted(exchange(await issuer.sign(claims(), { kid: `made-up-${index}` })));
    assert.equal(issuer.requests.length, asked, "made-up kids must not drive requests");
    issuer.jwks.keys.splice(0, 1, next.jwk);
    house.clock.nowMs += 31_000;
    await exchange(await issuer.sign(claims(), { kid: "two" }, next.privateKey));
    await unaccepted(exchange(await issuer.sign(claims())));
  });

  test("keys in the header count for nothing, critical extensions are not understood", async () => {
    const evil = newKey("one");
    const jku = `${issuer.url}/evil`;
    issuer.routes.set("/evil", (_request, response) => response.end(JSON.stringify({ keys: [evil.jwk] })));
    await unaccepted(exchange(await issuer.sign(claims(), { jwk: evil.jwk, jku, x5u: jku }, evil.privateKey)));
    assert.ok(!issuer.requests.includes("/evil"));
    const input = `${encode({ alg: "RS256", kid: "one", crit: ["b64"], b64: true })}.${encode(claims())}`;
    await refused(exchange(`${input}.AAAA`));
    await exchange(await issuer.sign(claims()));
    await refused(exchange(await issuer.sign(claims(), { crit: ["b64"], b64: true })));
  });

  test("a key set with private keys, secrets, or one kid for two keys verifies nothing", async () => {
    const twin = newKey("one");
    const sets = [
      [{ ...issuer.key.privateKey.export({ format: "jwk" }), kid: "one" }], [{ kty: "oct", k: encode({}), kid: "one", alg: "HS256" }],
      [issuer.key.jwk, twin.jwk], [{ ...issuer.key.jwk, use: "enc" }], [{ ...issuer.key.jwk, alg: "ES256" }], [{ ...issuer.key.jwk, kty: "EC" }], [],
    ];
    for (const keys of sets) {
      issuer.jwks.keys = keys as typeof issuer.jwks.keys;
      await unaccepted(exchange(await issuer.sign(claims())));
      house.clock.nowMs += 601_000;
    }
  });

  test("an issuer that no identity names is never asked", async () => {
    const stranger = await openIssuer();
    try {
      await unaccepted(exchange(await stranger.sign(claims({ iss: stranger.url }))), { iss: stranger.url });
      await unaccepted(exchange(await stranger.sign(claims({ iss: stranger.url })), { identity }), { identity, iss: stranger.url });
      assert.deepEqual(stranger.requests, []);
    } finally {
      await stranger.close();
    }
  });

  test("missing, foreign, deleted and malformed identities are answered alike", async () => {
    const foreign = await house.addIdentity(matching("another"));
    const bare = await house.addIdentity({ case: undefined });
    const deleted = await house.addIdentity(matching("robot"));
    await house.db.deleteFrom("identities").where("uid", "=", deleted).execute();
    const asked = issuer.requests.length;
    for (const uid of [newUid(""), bare, deleted, "no uid", `${identity}/`, identity.toUpperCase()]) {
      await unaccepted(exchange(await issuer.sign(claims()), { identity: uid }), { identity: uid });
    }
    assert.equal(issuer.requests.length, asked, "nobody was asked");
    // A token that the issuer did not sign tells whoever made it no more, even where an identity names the issuer.
    const { privateKey } = newKey("one");
    for (const uid of [newUid(""), bare, deleted, foreign, identity]) {
      await unaccepted(exchange(await issuer.sign(claims(), {}, privateKey), { identity: uid }), { identity: uid });
    }
    await saying(exchange(await issuer.sign(claims()), { identity: foreign }), `identity ${foreign} does not accept claim sub, which is "robot"`);
  });

  test("oversized and malformed tokens", async () => {
    await refused(exchange(await issuer.sign(claims({ filler: "x".repeat(20_000) }))));
    const deep = `{"a":${"[".repeat(5000)}${"]".repeat(5000)}}`;
    const nested = `${encode({ alg: "RS256" })}.${Buffer.from(deep).toString("base64url")}.AA`;
    for (const bad of ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", nested, " "]) await refused(exchange(bad));
  });
});

describe("discovery", () => {
  const answering = (path: string, answer: (response: ServerResponse) => void) => issuer.routes.set(path, (_request, response) => answer(response));
  const discovery = "/.well-known/openid-configuration";

  test("that lies about its issuer", async () => {
    for (const lie of ["https://accounts.example", `${issuer.url}/`, undefined, 7, [issuer.url]]) {
      answering(discovery, (response) => response.end(JSON.stringify({ issuer: lie, jwks_uri: `${issuer.url}/jwks` })));
      await unaccepted(exchange(await issuer.sign(claims())));
      house.clock.nowMs += 6_000;
    }
    assert.ok(!issuer.requests.includes("/jwks"));
  });

  test("that redirects, or whose keys do", async () => {
    for (const path of [discovery, "/jwks"]) {
      answering(path, (response) => response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end());
      await unaccepted(exchange(await issuer.sign(claims())));
      house.clock.nowMs += 6_000;
      issuer.routes.delete(path);
    }
    assert.ok(!issuer.requests.includes("/elsewhere"));
  });

  test("that is oversized, compressed, no JSON, or nested without end", async () => {
    const bad: ((response: ServerResponse) => void)[] = [
      (response) => { response.write(`{"issuer":"${issuer.url}","x":"`); response.end(`${"x".repeat(600_000)}"}`); },
      (response) => response.setHeader("content-encoding", "gzip").end("x"),
      (response) => response.end("<html>"),
      (response) => response.end(`{"issuer":"${issuer.url}","jwks_uri":"${issuer.url}/jwks","x":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
      (response) => response.writeHead(404).end(),
    ];
    for (const answer of bad) {
      answering(discovery, answer);
      await unaccepted(exchange(await issuer.sign(claims())));
      house.clock.nowMs += 6_000;
    }
  });

  test("that hangs up or fails is told as unavailable, by its host alone, and asked again only after a while", async () => {
    answering(discovery, (response) => response.destroy());
    const message = `Unavailable: the token issuer ${new URL(issuer.url).host} could not be asked for its keys`;
    await assert.rejects(exchange(await issuer.sign(claims())), { code: Code.Unavailable, message });
    const asked = issuer.requests.length;
    await refused(exchange(await issuer.sign(claims())), Code.Unavailable);
    assert.equal(issuer.requests.length, asked);
    issuer.routes.clear();
    house.clock.nowMs += 6_000;
    await exchange(await issuer.sign(claims()));
  });

  test("at private addresses, unless allowed", async () => {
    const strict = await openAccess({ allowPrivateNetwork: false });
    try {
      const { port } = new URL(issuer.url);
      for (const url of [issuer.url, ...["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"].map((host) => `https://${host}:${port}`)]) {
        await strict.addIdentity({ case: "claimMatch", value: { iss: { case: "issuer", value: url }, sub: { case: "subject", value: "robot" } } });
        const bearer = await issuer.sign(claims({ iss: url, aud: strict.baseUrl }));
        await unaccepted(strict.exchanger.exchange({ bearer, audiences: [] }, strict.data()), { iss: url });
      }
      assert.deepEqual(issuer.requests, []);
    } finally {
      await strict.close();
    }
  });

  test("that fails while kids are made up keeps the keys known, and is not asked for each", async () => {
    await exchange(await issuer.sign(claims()));
    answering(discovery, (response) => response.destroy());
    house.clock.nowMs += 31_000;
    await refused(exchange(await issuer.sign(claims(), { kid: "made-up" })), Code.Unavailable);
    const asked = issuer.requests.length;
    house.clock.nowMs += 6_000;
    await unaccepted(exchange(await issuer.sign(claims(), { kid: "made-up" })));
    await exchange(await issuer.sign(claims()));
    assert.equal(issuer.requests.length, asked);
  });

  test("many callers share one reading", async () => {
    const bearer = await issuer.sign(claims());
    await Promise.all(Array.from({ length: 20 }, () => exchange(bearer)));
    assert.deepEqual(issuer.requests, [discovery, "/jwks"]);
  });
});

describe("patterns", () => {
  test("must match the whole value", async () => {
    const uid = await house.addIdentity({ case: "claimMatch", value: {
      iss: { case: "issuerPattern", value: issuer.url.replaceAll(".", "\\.") }, sub: { case: "subjectPattern", value: "repo:acme/app|repo:acme/api" },
      aud: { case: "audiencePattern", value: "https://moorage\\.example" },
      claims: { env: "prod", run: "7", safe: "true" }, claimPatterns: { ref: "(?m)refs/heads/main$" },
    } });
    const good = { sub: "repo:acme/app", aud: "https://moorage.example", env: "prod", run: 7, safe: true, ref: "refs/heads/main" };
    await exchange(await issuer.sign(claims(good)), { identity: uid });
    for (const changes of [
      { sub: "repo:acme/app2" }, { sub: "xrepo:acme/api" }, { sub: "repo:acme/apprepo:acme/api" }, { sub: "repo:acme/app\n" },
      { sub: "\nrepo:acme/app" }, { sub: ["repo:acme/app"] }, { aud: "https://moorage.example.evil" }, { aud: "https://mooragexexample" },
      { aud: house.baseUrl },
      { ref: "refs/heads/main\nx" }, { ref: "x\nrefs/heads/main" }, { ref: "refs/heads/main-2" }, { ref: ["refs/heads/main"] },
      { ref: undefined }, { env: "production" }, { env: ["prod"] }, { run: "07" }, { safe: { toString: "true" } },
    ]) {
      const [[claim, value] = []] = Object.entries(changes);
      const told = `identity ${uid} does not accept claim ${claim}, which is ${JSON.stringify(value) ?? "absent"}`;
      await saying(exchange(await issuer.sign(claims({ ...good, ...changes })), { identity: uid }), told);
    }
  });

  test("an identity with patterns is never found without being named", async () => {
    const anything = { iss: { case: "issuerPattern" as const, value: ".*" }, sub: { case: "subjectPattern" as const, value: ".*" } };
    await house.addIdentity({ case: "claimMatch", value: anything });
    await unaccepted(exchange(await issuer.sign(claims({ sub: "anybody" }))));
    await unaccepted(exchange(await issuer.sign(claims({ iss: "", sub: "" }))), { iss: "" });
  });
});

describe("our own tokens", () => {
  const groupA = newUid("");
  const below = newUid(groupA);
  const sibling = `${below.slice(0, -16)}${"0".repeat(16)}`;
  const now = () => house.clock.nowMs;

  test("re-exchange keeps the identity and never lengthens, widens or refreshes", async () => {
    const { token, expiresAtMs } = await exchange(await issuer.sign(claims()), { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"], scopes: [groupA] });
    house.clock.nowMs += 1_800_000;
    const again = await exchange(token);
    assert.equal(again.expiresAtMs, expiresAtMs);
    assert.equal(again.refreshToken, "");
    const { capabilities, scopes, identity: who } = await house.tokens.read(again.token, now());
    assert.deepEqual([capabilities, scopes, who], [[Capability.CAP_REPO_LIST, Capability.CAP_TAG_LIST], [groupA], identity]);
    const wider = await exchange(token, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"], scopes: [below] });
    const less = await house.tokens.read(wider.token, now());
    assert.deepEqual([less.capabilities, less.scopes], [[Capability.CAP_REPO_LIST], [below]]);
    await refused(exchange(token, { capabilities: ["CAP_REPO_DELETE"] }), Code.PermissionDenied);
    await refused(exchange(token, { scopes: [newUid("")] }), Code.PermissionDenied);
    await refused(exchange(token, { identity: await house.addIdentity(matching("another")) }));
    house.clock.nowMs = expiresAtMs;
    await refused(exchange(token));
  });

  test("a scope is no prefix of its sibling", async () => {
    const long = `${below}0`;
    assert.equal(isWithin(long, below), false);
    const { token } = await exchange(await issuer.sign(claims()), { scopes: [below] });
    await refused(exchange(token, { scopes: [sibling] }), Code.PermissionDenied);
    await refused(exchange(token, { scopes: [long] }), Code.InvalidArgument);
    const up = await exchange(token, { scopes: [groupA] });
    assert.deepEqual((await house.tokens.read(up.token, now())).scopes, [below]);
  });

  test("the registry's audience opens nothing of the platform's", async () => {
    const { token } = await exchange(await issuer.sign(claims()), { audiences: [house.registryAudience] });
    assert.equal((await house.authenticate(`Bearer ${token}`, "registry", now())).identity, identity);
    await assert.rejects(house.authenticate(`Bearer ${token}`, "platform", now()), isWrongAudience);
    await refused(exchange(token), Code.PermissionDenied);
    await refused(exchange(token, { audiences: [house.registryAudience, house.baseUrl] }), Code.PermissionDenied);
    const registry = await house.tokens.mint({
      type: "registry", identity, audiences: [house.registryAudience, house.baseUrl], ttlMs: 60_000, nowMs: now(),
      access: [{ type: "repository", name: "acme/api", actions: ["pull"] }],
    });
    assert.deepEqual((await house.authenticate(`Bearer ${registry.token}`, "registry", now())).repositories, [{ name: "acme/api", actions: ["pull"] }]);
    await refused(house.authenticate(`Bearer ${registry.token}`, "platform", now()));
    await refused(exchange(registry.token));
  });

  test("forged, unknown, retired and foreign ones", async () => {
    const { token } = await exchange(await issuer.sign(claims()));
    const read = (text: string) => house.tokens.verify(text, house.baseUrl, now());
    await read(token);
    const [header = "", body = "", signature = ""] = token.split(".");
    const parsed = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, unknown>;
    for (const changes of [{ alg: "none" }, { kid: "unknown" }, { kid: undefined }, { typ: "JWT" }, { crit: ["exp"] }]) {
      await refused(read(`${encode({ ...parsed, ...changes })}.${body}.${signature}`));
    }
    const { keys } = await house.keyring.jwks(now());
    const input = `${encode({ ...parsed, alg: "HS256" })}.${body}`;
    await refused(read(`${input}.${createHmac("sha256", JSON.stringify(keys[0])).update(input).digest("base64url")}`));
    await refused(read(await issuer.sign({ ...claims(), iss: house.baseUrl, sub: identity, jti: "x" }, { typ: "at+jwt", kid: parsed["kid"] })));
    await refused(read(`${token}=`));
    await house.rotate();
    await read(token);
    assert.equal((await house.keyring.jwks(now())).keys.length, 2);
    assert.equal((await exchange(token)).token.split(".")[0], header, "a key is published before it signs");
    house.clock.nowMs += 3 * 60_000;
    const newer = await exchange(token);
    assert.notEqual(newer.token.split(".")[0], header);
    house.clock.nowMs += 3 * 3_600_000;
    assert.equal((await house.keyring.jwks(now())).keys.length, 1);
    await refused(read(token));
  });

  test("a token of another installation, and one of a deleted identity", async () => {
    const other = await openAccess();
    try {
      const foreign = await other.tokens.mint({ type: "access", identity, audiences: [house.baseUrl], ttlMs: 60_000, nowMs: now() });
      await refused(house.authenticate(`Bearer ${foreign.token}`, "platform", now()));
    } finally {
      await other.close();
    }
    const { token, refreshToken } = await exchange(await issuer.sign(claims()));
    await house.authenticate(`Bearer ${token}`, "platform", now());
    await house.db.deleteFrom("identities").where("uid", "=", identity).execute();
    await refused(house.authenticate(`Bearer ${token}`, "platform", now()));
    await refused(exchange(token));
    await refused(house.exchanger.refresh({ bearer: refreshToken, audiences: [] }, house.data()));
  });

  test("a header that holds no single bearer token", async () => {
    const { token } = await exchange(await issuer.sign(claims()));
    for (const header of [undefined, "", "Bearer", "Bearer ", `Basic ${token}`, token, `Bearer ${token}, Bearer ${token}`, `Bearer ${token} x`,
      `Bearer\t${token}`]) {
      await assert.rejects(house.authenticate(header, "platform", now()), { code: Code.Unauthenticated });
    }
    await house.authenticate(`bearer ${token}`, "platform", now());
  });
});

test("a name that answers a private address is refused at the connection, and nothing is sent", async () => {
  let asked = 0;
  const server = createServer();
  server.on("connection", () => { asked += 1; });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const closed = guardedFetch({ allowPrivateNetwork: false, timeoutMs: 2_000, maxBytes: 10 });
  try {
    await assert.rejects(closed(`https://localhost:${port}/`), { kind: "refused" });
    assert.equal(asked, 0);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
