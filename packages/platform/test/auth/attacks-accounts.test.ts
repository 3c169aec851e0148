import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import {
  appCode,
  inviteCode,
  newAccount,
  openAccountBrowser,
  PASSWORD,
} from "../../../server/test/support/accounts.ts";
import {
  cborBytes,
  cborText,
  createSoftwarePasskey,
  type Options,
} from "../../../server/test/support/authenticator.ts";
import { type Answer, type Platform, rows, startPlatform } from "../../../server/test/support/platform.ts";

// Attacks on accounts that the installation keeps: each begins with what is accepted, and changes one thing.
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_TRUSTED_PROXIES: "127.0.0.1" });
});
after(() => platform?.close());

let network = 0;
const elsewhere = (): string => `203.0.${(network += 1) >> 8}.${network & 255}`;
/** What an answer gives away, without the names of the request. */
const shownBy = ({ status, body, headers }: Answer) => [status, body.message, Object.keys(headers).toSorted()];

test("a name that is not there is answered like a wrong password, and like an account without one", async () => {
  await newAccount(platform, "ada");
  const { browser } = await newAccount(platform, "keyed");
  await browser.makePasskey({});
  await browser.post("/session/account/password/remove");
  const attacker = openAccountBrowser(platform, elsewhere());
  const answers: unknown[] = [];
  for (const fields of [
    { name: "ada", password: "wrong" },
    { name: "nobody", password: "wrong" },
    { name: "keyed", password: "wrong" },
    { name: "keyed", password: "" },
    { name: "<script>", password: PASSWORD },
    { organization: "nowhere", name: "ada", password: PASSWORD },
    { provider: platform.organization, name: "ada", password: PASSWORD },
  ])
    answers.push(shownBy(await attacker.post("/session/password", fields)));
  assert.deepEqual(answers, Array(7).fill(answers[0]));
  assert.equal((answers[0] as unknown[])[0], 401);
});

test("guesses of strangers do not lock a person out, neither from a known network nor from a known browser", async () => {
  const home = openAccountBrowser(platform, "198.51.100.1");
  const invite = await inviteCode(platform, platform.organization);
  await home.post("/session/account/password", { invite, name: "vic", password: PASSWORD });
  const right = { name: "vic", password: PASSWORD };
  // Parallel guesses are counted before they are looked at.
  const burst = openAccountBrowser(platform, elsewhere());
  const many = await Promise.all(
    Array.from({ length: 14 }, () => burst.post("/session/password", { ...right, password: "x" })),
  );
  assert.equal(many.filter(({ status }) => status === 401).length, 10);
  for (let n = 0; n < 10; n += 1)
    await openAccountBrowser(platform, elsewhere()).post("/session/password", { ...right, password: "x" });
  const stranger = await openAccountBrowser(platform, elsewhere()).post("/session/password", right);
  assert.equal(stranger.status, 429);
  // The person at home, in a new browser; then from anywhere, in the one that is known.
  assert.equal((await openAccountBrowser(platform, "198.51.100.1").post("/session/password", right)).status, 200);
  const travelling = openAccountBrowser(platform, elsewhere());
  travelling.cookies.set("moorage_browser", home.cookies.get("moorage_browser") ?? "");
  assert.equal((await travelling.post("/session/password", right)).status, 200);
  // An attacker in the person's own network shuts out new browsers there, not the known one.
  const colleague = openAccountBrowser(platform, "198.51.100.1");
  for (let n = 0; n < 10; n += 1) await colleague.post("/session/password", { ...right, password: "x" });
  assert.equal((await colleague.post("/session/password", right)).status, 429);
  assert.equal((await home.post("/session/password", right)).status, 200);
  // A known browser of one account is a stranger to another one, and a passkey cannot be guessed.
  platform.clock.offsetMs += 600_001;
  assert.equal(
    (await stranger.status) &&
      (await openAccountBrowser(platform, elsewhere()).post("/session/password", right)).status,
    200,
  );
  platform.clock.offsetMs = 0;
});

test("a code of an app works once, is not guessed beside a right password, and a set-up is for whom it was made", async () => {
  const { browser } = await newAccount(platform, "tom");
  const app = (await browser.post("/session/account/app")).body;
  const set = { setUp: app["setUp"], code: appCode(app["secret"], platform.clock.nowMs()) };
  const { browser: other } = await newAccount(platform, "tim");
  assert.equal((await other.post("/session/account/app", set)).status, 400);
  assert.equal((await browser.post("/session/account/app", set)).status, 200);
  const attacker = openAccountBrowser(platform, elsewhere());
  const fields = { name: "tom", password: PASSWORD };
  // The code that set the app up was seen.
  assert.equal((await attacker.post("/session/password", { ...fields, code: set.code })).status, 401);
  platform.clock.offsetMs += 60_000;
  const code = appCode(app["secret"], platform.clock.nowMs());
  assert.equal(
    (await openAccountBrowser(platform, elsewhere()).post("/session/password", { ...fields, code })).status,
    200,
  );
  assert.equal((await attacker.post("/session/password", { ...fields, code })).status, 401);
  const raced = appCode(app["secret"], platform.clock.nowMs() + 30_000);
  const racing = await Promise.all(
    [1, 2, 3].map(() =>
      openAccountBrowser(platform, elsewhere()).post("/session/password", { ...fields, code: raced }),
    ),
  );
  assert.deepEqual(racing.map(({ status }) => status).toSorted(), [200, 401, 401]);
  // A right password without a code takes no guess back but its own.
  let tried = 2;
  for (; tried < 20; tried += 1) {
    assert.equal((await attacker.post("/session/password", fields)).status, 200);
    if ((await attacker.post("/session/password", { ...fields, code: "000000" })).status === 429) break;
    if (tried === 9) break;
  }
  assert.equal((await attacker.post("/session/password", fields)).status, 429);
  platform.clock.offsetMs = 0;
});

test("a passkey of another origin, host, browser or challenge is not accepted, and an answer works once", async () => {
  const { browser } = await newAccount(platform, "pat");
  const { passkey } = await browser.makePasskey({});
  const attacker = openAccountBrowser(platform, elsewhere());
  const { origin } = attacker;
  for (const changes of [
    { origin: "https://evil.example" },
    { origin: origin.replace("localhost", "localhost.evil.example") },
    { rpId: "evil.example" },
    { challenge: Buffer.alloc(32).toString("base64url") },
    { userVerified: false },
    { type: "webauthn.create" },
  ])
    assert.equal((await attacker.signInWith(passkey, changes)).status, 401, JSON.stringify(changes));
  assert.equal((await attacker.signInWith(createSoftwarePasskey())).status, 401);
  // An answer that was seen: again in the same browser, and for the challenge of another one.
  const victim = openAccountBrowser(platform);
  const options = (await victim.post("/session/passkey/options")).body as unknown as Options;
  const credential = passkey.get(options, origin);
  await attacker.post("/session/passkey/options");
  assert.equal((await attacker.post("/session/passkey", { credential })).status, 401);
  assert.equal((await victim.post("/session/passkey", { credential })).status, 200);
  assert.equal((await victim.post("/session/passkey", { credential })).status, 401);
  // A copy of the passkey, whose count is behind.
  assert.equal((await victim.signInWith(passkey, { signCount: 1 })).status, 401);
  // A challenge for a new passkey signs nobody in, and ends after five minutes.
  const making = (await browser.post("/session/account/passkey/options")).body as unknown as Options;
  assert.equal(
    (await browser.post("/session/passkey", { credential: passkey.get({ ...making, rpId: "localhost" }, origin) }))
      .status,
    401,
  );
  const late = (await victim.post("/session/passkey/options")).body as unknown as Options;
  platform.clock.offsetMs += 300_001;
  assert.equal((await victim.post("/session/passkey", { credential: passkey.get(late, origin) })).status, 401);
  platform.clock.offsetMs = 0;
  // At an address without a name there are none.
  const { port } = new URL(platform.url);
  const numbered = await victim.post("/session/passkey/options", {}, { host: `127.0.0.1:${port}` });
  assert.equal(numbered.status, 400);
});

test("a certificate in a new passkey is not read: no address that it names is asked", async () => {
  const asked: string[] = [];
  const sink = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((resolve) => void sink.listen(0, "127.0.0.1", resolve));
  const { browser } = await newAccount(platform, "quinn");
  for (const format of ["packed", "tpm", "fido-u2f", "android-key", "apple"]) {
    const statement = Buffer.concat([
      Buffer.from([0xa1]),
      cborText("x5c"),
      Buffer.from([0x81]),
      cborBytes(Buffer.from("30", "hex")),
    ]);
    const { answer } = await browser.makePasskey({}, createSoftwarePasskey(), { attestation: { format, statement } });
    assert.equal(answer.status, 400, format);
  }
  const deep = Buffer.alloc(20_000, 0x81);
  const { answer } = await browser.makePasskey({}, createSoftwarePasskey(), {
    attestation: { format: "none", statement: deep },
  });
  assert.equal(answer.status, 400);
  await new Promise((resolve) => void sink.close(resolve));
  assert.deepEqual(asked, []);
});

test("a sign-in makes a new session, whatever cookie was there before", async () => {
  await newAccount(platform, "rose");
  const browser = openAccountBrowser(platform);
  const fixed = "A".repeat(43);
  browser.cookies.set("moorage_session", fixed);
  await browser.post("/session/password", { name: "rose", password: PASSWORD });
  assert.notEqual(browser.cookies.get("moorage_session"), fixed);
  browser.cookies.set("moorage_session", fixed);
  assert.equal((await browser.get("/session")).status, 401);
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ])
    for (const path of ["/session/password", "/session/passkey", "/session/account/password", "/session/account/offer"])
      assert.equal((await browser.post(path, { name: "rose", password: PASSWORD }, headers)).status, 403, path);
});

test("an invite for one person makes one account, and those that are not good are answered alike", async () => {
  const invite = await inviteCode(platform, platform.organization);
  const race = await Promise.all(
    ["s1", "s2", "s3"].map((name) =>
      openAccountBrowser(platform, elsewhere()).post("/session/account/password", { invite, name, password: PASSWORD }),
    ),
  );
  assert.deepEqual(race.map(({ status }) => status).toSorted(), [200, 404, 404]);
  const expired = await inviteCode(platform, platform.organization, "viewer", { ttl: "1s" });
  const forAddress = await inviteCode(platform, platform.organization, "viewer", { email: "ada@example.com" });
  platform.clock.offsetMs += 1_001;
  const attacker = openAccountBrowser(platform, elsewhere());
  const answers: unknown[] = [];
  for (const code of [invite, expired, "A".repeat(43), "short"])
    answers.push(shownBy(await attacker.post("/session/account/offer", { invite: code })));
  assert.deepEqual(answers, Array(4).fill(answers[0]));
  platform.clock.offsetMs = 0;
  // Whoever read the mail is not whom it was for.
  const offer = await attacker.post("/session/account/offer", { invite: forAddress });
  assert.deepEqual([offer.body["isForAddress"], offer.body["mayMake"]], [true, false]);
  const made = await attacker.post("/session/account/password", {
    invite: forAddress,
    name: "ada2",
    password: PASSWORD,
  });
  assert.equal(made.status, 400);
  for (let n = 0; n < 6; n += 1) await attacker.post("/session/account/offer", { invite: "B".repeat(43) });
  assert.equal((await attacker.post("/session/account/offer", { invite: forAddress })).status, 429);
});

test("a recovery link is made by who holds all that the person holds, then and when it is used", async () => {
  const beta = await platform.ok("POST", "/iam/v2/groups", { name: "beta" });
  const betaOwner = await platform.identity(beta.uid, "owner");
  const { identity } = await newAccount(platform, "una", { group: beta.uid });
  const link = async (token: string, of = identity) =>
    platform.call("POST", "/session/recovery-links", { token, body: { identity: of } });
  const secretOf = ({ body }: Answer): string => new URL(String(body["url"])).hash.slice(1);
  const early = secretOf(await link(await platform.token(betaOwner)));
  // Now the person has a role in another organization, of which the owner of beta knows nothing.
  await platform.bind(platform.organization, identity, await platform.role("editor"));
  const browser = openAccountBrowser(platform);
  const taken = await browser.post("/session/account/password", { recovery: early, password: PASSWORD });
  assert.equal(taken.status, 404, taken.text);
  assert.equal((await link(await platform.token(betaOwner))).status, 403);
  const viewer = await platform.identity(beta.uid, "viewer");
  assert.equal((await link(await platform.token(viewer))).status, 404);
  const ofAcme = await platform.identity(platform.organization, "owner");
  assert.equal((await link(await platform.token(ofAcme))).status, 404);
  assert.equal((await link(await platform.token(), viewer)).status, 404);
  assert.equal((await link("")).status, 401);
  const cap = ["identity.update"];
  const narrow = await platform.call("POST", "/sts/exchange", { token: await platform.token(), body: { cap } });
  assert.equal((await link(String(narrow.body["token"]))).status, 403);
  const good = secretOf(await link(await platform.token()));
  const race = await Promise.all(
    [1, 2, 3].map(() =>
      openAccountBrowser(platform, elsewhere()).post("/session/account/password", {
        recovery: good,
        password: PASSWORD,
      }),
    ),
  );
  assert.deepEqual(race.map(({ status }) => status).toSorted(), [200, 404, 404]);
  const late = secretOf(await link(await platform.token()));
  platform.clock.offsetMs += 86_400_001;
  assert.equal((await browser.post("/session/account/offer", { recovery: late })).status, 404);
  platform.clock.offsetMs = 0;
});

test("no secret is in the database or the audit log, and rejected sign-ins are", async () => {
  await newAccount(platform, "wes");
  const invite = await inviteCode(platform, platform.organization);
  await openAccountBrowser(platform).post("/session/password", { name: "wes", password: "not the password" });
  const entries = await rows(platform.ok("GET", "/iam/v2/auditEntries?page_size=200"), "auditEntries");
  assert.ok(entries.some((entry) => entry["reason"] === "PASSWORD_NOT_ACCEPTED"));
  assert.ok(entries.some((entry) => entry["method"] === "auth.changeAccount"));
  const stored = JSON.stringify([
    entries,
    await platform.reader.selectFrom("accounts").selectAll().execute(),
    await platform.reader.selectFrom("known_browsers").selectAll().execute(),
    await platform.reader.selectFrom("sign_ins").selectAll().execute(),
  ]);
  for (const secret of [PASSWORD, "not the password", invite]) assert.ok(!stored.includes(secret));
});
