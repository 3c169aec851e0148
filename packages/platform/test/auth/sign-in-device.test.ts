import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { decodeJwt } from "jose";
import { type Browser, openBrowser, type Shown } from "../../../server/test/support/browser.ts";
import {
  addProvider,
  openPeopleProvider,
  type PeopleProvider,
  type TokenAnswer,
  tokenCall,
} from "../../../server/test/support/people-provider.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// Device authorization (RFC 8628): a device without a browser, whose user signs in elsewhere.
let platform: Platform;
let people: PeopleProvider;
let idp: string;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1", MOORAGE_TRUSTED_PROXIES: "127.0.0.1" });
  people = await openPeopleProvider();
  idp = await addProvider(platform, people);
});
after(async () => {
  await people?.close();
  await platform?.close();
});

interface Codes {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
  interval: number;
}

async function begin(change: Record<string, string> = {}): Promise<Codes> {
  const { status, body } = await tokenCall<Codes>(
    platform,
    { client_id: "moorage-cli", identity_provider: idp, ...change },
    "/oauth/device_authorization",
  );
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

const poll = (code: string, client = "moorage-cli"): Promise<TokenAnswer> =>
  tokenCall(platform, {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: code,
    client_id: client,
  });

const proofIn = ({ text }: Shown): string => /name="proof" value="(\w+)"/.exec(text)?.[1] ?? "";

/** Enters the code and returns the page that asks for confirmation. */
async function type(browser: Browser, userCode: string): Promise<Shown> {
  const page = await browser.open(`${platform.url}/oauth/device`);
  return browser.post(page.url, { user_code: userCode, proof: proofIn(page) });
}

async function go(browser: Browser, userCode: string, login = "ada"): Promise<Shown> {
  const page = await type(browser, userCode);
  const there = await browser.post(
    page.url,
    { user_code: userCode, proof: proofIn(page), answer: "go" },
    `${people.url}/auth`,
  );
  assert.ok(there.location.startsWith(people.url), there.text);
  return browser.signIn(there.location, login);
}

test("the person enters the code, sees which client asks, signs in, and the device gets its tokens once", async () => {
  const codes = await begin();
  assert.match(codes.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.deepEqual(
    [codes.verification_uri, codes.verification_uri_complete, codes.expires_in, codes.interval],
    [`${platform.url}/oauth/device`, `${platform.url}/oauth/device?user_code=${codes.user_code}`, 600, 5],
  );
  assert.equal((await poll(codes.device_code)).body["error"], "authorization_pending");
  const browser = openBrowser();
  const page = await type(browser, codes.user_code.toLowerCase().replace("-", " "));
  assert.match(page.text, /The Moorage command line/);
  assert.match(page.text, /127\.0\.0\.1/);
  assert.match(
    page.headers.get("content-security-policy") ?? "",
    /default-src 'none'.*form-action 'self' https: http:/,
  );
  const shown = await go(browser, codes.user_code);
  assert.deepEqual([shown.status, /You may close this page/.test(shown.text)], [200, true]);

  const given = await poll(codes.device_code);
  assert.equal(given.status, 200, JSON.stringify(given.body));
  const { sub } = decodeJwt(String(given.body["access_token"]));
  assert.equal(
    (await platform.reader.selectFrom("identities").select("subject").where("uid", "=", String(sub)).executeTakeFirst())
      ?.subject,
    "ada",
  );
  assert.equal((await poll(codes.device_code)).body["error"], "invalid_grant");
  assert.equal(
    (await tokenCall(platform, { grant_type: "refresh_token", refresh_token: String(given.body["refresh_token"]) }))
      .status,
    400,
    "a device code that comes again takes along what it gave",
  );
});

test("of two concurrent requests with one device code, one gets tokens", async () => {
  const codes = await begin();
  await go(openBrowser(), codes.user_code);
  const answers = await Promise.all(Array.from({ length: 5 }, () => poll(codes.device_code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

test("a device that asks too often is slowed down", async () => {
  const { device_code: code } = await begin();
  assert.equal((await poll(code)).body["error"], "authorization_pending");
  assert.equal((await poll(code)).body["error"], "slow_down");
  platform.clock.offsetMs += 6_000;
  assert.equal((await poll(code)).body["error"], "slow_down", "five seconds are no longer enough");
  platform.clock.offsetMs += 16_000;
  assert.equal((await poll(code)).body["error"], "authorization_pending");
  platform.clock.offsetMs = 0;
});

test("a clock that is set back by an hour neither slows a device down nor keeps new ones out", async () => {
  const { device_code: code } = await begin();
  assert.equal((await poll(code)).body["error"], "authorization_pending");
  // As many devices as may wait for one network.
  const params = { client_id: "moorage-cli", identity_provider: idp };
  const more = () => tokenCall<Codes>(platform, params, "/oauth/device_authorization");
  let status = 200;
  for (let count = 0; count < 200 && status === 200; count += 1) ({ status } = await more());
  assert.equal(status, 429);
  platform.clock.offsetMs -= 3_600_000;
  try {
    assert.equal((await poll(code)).body["error"], "authorization_pending");
    assert.equal((await more()).status, 200);
  } finally {
    platform.clock.offsetMs += 3_600_000;
    await platform.transact((tx) => tx.deleteFrom("device_codes").execute());
  }
});

test("a code that was declined, has expired, is unknown or belongs to another client gets no tokens", async () => {
  const declined = await begin();
  const browser = openBrowser();
  const page = await type(browser, declined.user_code);
  await browser.post(page.url, { user_code: declined.user_code, proof: proofIn(page), answer: "deny" });
  assert.equal((await poll(declined.device_code)).body["error"], "access_denied");
  assert.equal((await type(browser, declined.user_code)).status, 400);

  const there = await begin();
  const asked = await type(browser, there.user_code);
  const login = await browser.post(asked.url, { user_code: there.user_code, proof: proofIn(asked), answer: "go" });
  const abort = /href="([^"]+\/abort)"/.exec(login.text)?.[1] ?? "";
  assert.match((await browser.open(new URL(abort, login.url).href)).text, /declined at the identity provider/);
  assert.equal((await poll(there.device_code)).body["error"], "access_denied");

  const late = await begin();
  platform.clock.offsetMs += 601_000;
  assert.equal((await poll(late.device_code)).body["error"], "expired_token");
  assert.equal((await type(browser, late.user_code)).status, 400);
  platform.clock.offsetMs = 0;
  assert.equal((await poll("guessed")).body["error"], "invalid_grant");
  assert.equal((await poll((await begin()).device_code, "moorage-web")).body["error"], "invalid_grant");
});

test("a bad request for codes is refused", async () => {
  for (const [form, error] of [
    [{ client_id: "moorage-web" }, "unauthorized_client"],
    [{ client_id: "" }, "invalid_request"],
    [{ identity_provider: "f".repeat(40) }, "invalid_request"],
    [{ scope: "CAP_NOTHING" }, "invalid_scope"],
  ] as const) {
    const { status, body } = await tokenCall(
      platform,
      { client_id: "moorage-cli", identity_provider: idp, ...form },
      "/oauth/device_authorization",
    );
    assert.deepEqual([status, body["error"]], [400, error]);
  }
});

test("a form that another site or another browser sends is refused", async () => {
  const codes = await begin();
  const [browser, other] = [openBrowser(), openBrowser()];
  const foreign = proofIn(await other.open(`${platform.url}/oauth/device`));
  await browser.open(`${platform.url}/oauth/device`);
  for (const proof of ["", foreign]) {
    const shown = await browser.post(`${platform.url}/oauth/device`, {
      user_code: codes.user_code,
      proof,
      answer: "deny",
    });
    assert.deepEqual([shown.status, shown.location], [403, ""]);
  }
  assert.equal((await poll(codes.device_code)).body["error"], "authorization_pending");
});

test("text from a request appears in no page as HTML", async () => {
  const page = await openBrowser().open(
    `${platform.url}/oauth/device?user_code=${encodeURIComponent(`"><script>alert(1)</script>`)}`,
  );
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /<script>alert|"">/);
});

test("attempts to guess codes are limited", async () => {
  const codes = await begin();
  const browser = openBrowser();
  const page = await browser.open(`${platform.url}/oauth/device`);
  const guess = (code: string): Promise<Shown> => browser.post(page.url, { user_code: code, proof: proofIn(page) });
  const statuses = [];
  for (let n = 0; n < 12; n += 1) statuses.push((await guess("BBBB-BBBB")).status);
  assert.deepEqual([statuses[0], statuses.at(-1)], [400, 429]);
  assert.equal((await guess(codes.user_code)).status, 429, "the right one neither");
  platform.clock.offsetMs += 601_000;
  assert.equal((await guess((await begin()).user_code)).status, 200);
  platform.clock.offsetMs = 0;
});
