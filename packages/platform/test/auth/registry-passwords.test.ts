import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, before, test } from "node:test";
import { SignJWT } from "jose";
import { type Answer, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { tokenCall } from "../../../server/test/support/people-provider.ts";

// Pull tokens and push tokens: passwords for the registry, from a thief's side.
let platform: Platform;
let host: string;
let group: string;
let push: string;

before(async () => {
  platform = await startPlatform();
  host = new URL(platform.bootstrap.registryUrl).host;
  group = platform.organization;
  push = await platform.role("registry.push");
});
after(() => platform.close());

const DAY_MS = 86_400_000;

interface Password {
  identity: string;
  password: string;
}

function newKey(): { privateKey: CryptoKey; issuerKeys: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k", alg: "ES256" };
  return { privateKey: privateKey as unknown as CryptoKey, issuerKeys: JSON.stringify({ keys: [jwk] }) };
}

let count = 0;

/** What `moorage push-token create` makes; `scopes` are those of one that is narrowed. */
async function make(issuer: string, scopes?: string[]): Promise<Password> {
  const { privateKey, issuerKeys } = newKey();
  const subject = `key-${(count += 1)}`;
  const endMs = platform.clock.nowMs() + 7 * DAY_MS;
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${group}`, {
    name: "robot",
    staticKeys: { issuer, subject, issuerKeys, expirationTime: new Date(endMs).toISOString(), audiences: [host] },
  });
  await platform.bind(group, uid, push);
  const password = await new SignJWT({ ...(scopes !== undefined && { scopes }) })
    .setProtectedHeader({ alg: "ES256", kid: "k" })
    .setIssuer(issuer)
    .setSubject(subject)
    .setAudience(host)
    .setIssuedAt(Math.floor(platform.clock.nowMs() / 1000))
    .setExpirationTime(Math.floor(endMs / 1000))
    .sign(privateKey);
  return { identity: uid, password };
}

/** The actions that the token endpoint grants on the image. */
async function granted({ identity, password }: Password, name: string): Promise<string[]> {
  const authorization = `Basic ${Buffer.from(`${identity}:${password}`).toString("base64")}`;
  const answer = await platform.call("GET", `/token?scope=repository:${name}:pull,push,delete`, {
    headers: { authorization },
  });
  assert.equal(answer.status, 200, answer.text);
  const token = String(answer.body["token"]);
  const { access } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
    access: { actions: string[] }[];
  };
  return access.flatMap(({ actions }) => actions);
}

function exchange({ identity, password }: Password, query: string): Promise<Answer> {
  return platform.call("POST", `/sts/exchange?identity=${identity}${query}`, { token: password });
}

for (const issuer of ["moorage-push-token", "moorage-pull-token"])
  test(`a stolen password of ${issuer} gives no token of the platform API, by no way of asking`, async () => {
    const stolen = await make(issuer);
    const audience = encodeURIComponent(platform.url);
    for (const query of ["", `&aud=${audience}`, `&aud=${audience}&aud=${host}`, "&cap=CAP_REPO_UPDATE"]) {
      const { status, text } = await exchange(stolen, query);
      assert.deepEqual([status, text.includes("eyJ")], [403, false], text);
    }
    const form = {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: stolen.password,
      subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    };
    assert.equal((await tokenCall(platform, form)).status, 400);
    assert.equal((await tokenCall(platform, { ...form, audience: platform.url })).status, 400);
    // What it is for: the registry, and what follows from that stays there.
    const answer = await exchange(stolen, `&aud=${host}`);
    assert.equal(answer.status, 200, answer.text);
    const { token, refreshToken } = answer.body as unknown as Record<string, string>;
    assert.ok([401, 403].includes((await platform.call("GET", "/registry/v2/repos", { token })).status));
    for (const [path, bearer] of [
      ["/sts/exchange", token],
      ["/sts/exchange_refresh_token", refreshToken],
    ] as const)
      assert.equal((await platform.call("POST", `${path}?aud=${audience}`, { token: bearer })).status, 403, path);
  });

test("a password for one image pushes that image, and neither another one nor a new one", async () => {
  const { uid: app } = await platform.repo(group, { name: "app" });
  await platform.repo(group, { name: "other" });
  const narrow = await make("moorage-push-token", [app]);
  assert.deepEqual(await granted(narrow, "acme/app"), ["pull", "push"]);
  assert.deepEqual(await granted(narrow, "acme/other"), []);
  assert.deepEqual(await granted(narrow, "acme/new"), []);
  const wide = await make("moorage-push-token");
  assert.deepEqual(await granted(wide, "acme/other"), ["pull", "push"]);
  assert.deepEqual(await granted(wide, "acme/new"), ["pull", "push"]);
});

test("a password whose narrowing cannot be read is refused, rather than taken for one that is not narrowed", async () => {
  for (const scopes of ["all", [], [""], ["not a uid"], [1], null]) {
    const damaged = await make("moorage-push-token", scopes as string[]);
    const authorization = `Basic ${Buffer.from(`${damaged.identity}:${damaged.password}`).toString("base64")}`;
    const { status } = await platform.call("GET", "/token?scope=repository:acme/app:push", {
      headers: { authorization },
    });
    assert.equal(status, 401, JSON.stringify(scopes));
  }
});

test("a push token names its end, in 90 days at most, and the registry alone; a longer one cannot be made or extended", async () => {
  const { issuerKeys } = newKey();
  const body = (change: object): object => ({
    name: "robot",
    staticKeys: {
      issuer: "moorage-push-token",
      subject: `key-${(count += 1)}`,
      issuerKeys,
      audiences: [host],
      expirationTime: new Date(platform.clock.nowMs() + 90 * DAY_MS).toISOString(),
      ...change,
    },
  });
  const token = await platform.token();
  const fieldsOf = ({ body: { details } }: Answer): (string | undefined)[] =>
    details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  for (const [change, field] of [
    [
      { expirationTime: new Date(platform.clock.nowMs() + 90 * DAY_MS + 60_000).toISOString() },
      "staticKeys.expirationTime",
    ],
    [{ expirationTime: undefined }, "staticKeys.expirationTime"],
    [{ audiences: [] }, "staticKeys.audiences"],
  ] as const) {
    const answer = await platform.call("POST", `/iam/v2/identities/${group}`, { token, body: body(change) });
    assert.deepEqual([answer.status, fieldsOf(answer)], [400, [field]], answer.text);
  }
  const { uid } = await platform.ok("POST", `/iam/v2/identities/${group}`, body({}));
  const longer = await platform.call("PATCH", `/iam/v2/identities/${uid}?updateMask=staticKeys`, {
    token,
    body: body({ expirationTime: new Date(platform.clock.nowMs() + 91 * DAY_MS).toISOString() }),
  });
  assert.deepEqual([longer.status, fieldsOf(longer)], [400, ["staticKeys.expirationTime"]], longer.text);
  assert.equal(
    (
      await platform.call("PATCH", `/iam/v2/identities/${uid}?updateMask=description`, {
        token,
        body: { description: "x" },
      })
    ).status,
    200,
  );
});

test("each log-in with a password is in the audit log, by its identity", async () => {
  const made = await make("moorage-push-token");
  await granted(made, "acme/app");
  const { auditEntries } = await platform.ok("GET", `/iam/v2/auditEntries?identity=${made.identity}`);
  assert.deepEqual(
    (auditEntries as { method: string }[]).map(({ method }) => method),
    ["sts.exchange"],
  );
});
