import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openBrowser } from "../../../server/test/support/browser.ts";
import { addProvider, openPeopleProvider, type PeopleProvider } from "../../../server/test/support/people-provider.ts";
import { type Answer, type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// The list of sessions, and their end from elsewhere.
let platform: Platform;
let people: PeopleProvider;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  people = await openPeopleProvider();
  people.claims = { email: "ada@example.com", email_verified: true };
});
after(async () => {
  await people?.close();
  await platform?.close();
});

const OWN = { "sec-fetch-site": "same-origin" };
const list = (token: string, query = ""): Promise<Answer> =>
  platform.call("GET", `/iam/v2/sessions?${query}`, { token });
const rows = ({ body }: Answer): Json[] => body["sessions"] as Json[];
const end = async (token: string, uid: unknown): Promise<number> =>
  (await platform.call("DELETE", `/iam/v2/sessions/${String(uid)}`, { token })).status;

/** Begins a session of the identity in a browser. */
async function begin(identity: string, userAgent = "a browser") {
  const token = await platform.token(identity);
  const headers = { ...OWN, "user-agent": userAgent };
  const { status, text, headers: answered } = await platform.call("POST", "/session", { token, headers });
  assert.equal(status, 200, text);
  const cookie = String(answered["set-cookie"]).split(";")[0] ?? "";
  const minted = await platform.call("POST", "/session/token", { headers: { cookie, ...OWN } });
  return { cookie, token: String(minted.body["token"]) };
}

test("an identity sees its sessions and ends one of them: cookie and tokens are good no more", async () => {
  const identity = await platform.identity(platform.organization, "viewer");
  const [here, other] = [await begin(identity), await begin(identity, "another one")];
  const seen = await list(here.token);
  assert.equal(seen.body.totalCount, "2");
  const [own, elsewhere] = [true, false].map((current) => rows(seen).find((one) => one["current"] === current));
  assert.ok(own && elsewhere);
  assert.match(own.uid, new RegExp(`^${identity}/[0-9a-f]{16}$`));
  assert.deepEqual(
    [own["identity"], own["kind"], own["provider"], own["userAgent"], own["network"], elsewhere["userAgent"]],
    [identity, "SESSION_KIND_BROWSER", "", "a browser", "127.0.0.1", "another one"],
  );
  assert.ok(Date.parse(String(own["expireTime"])) > Date.parse(own.createTime));
  const stored = await platform.reader.selectFrom("sessions").select("hash").where("identity", "=", identity).execute();
  for (const { hash } of stored) assert.ok(!seen.text.includes(hash.slice(0, 16)));
  assert.equal((await list(other.token)).status, 200);
  assert.equal(await end(here.token, elsewhere.uid), 200);
  assert.equal((await list(other.token)).status, 401);
  assert.equal((await platform.call("GET", "/session", { headers: { cookie: other.cookie } })).status, 401);
  assert.deepEqual(
    rows(await list(here.token)).map(({ uid }) => uid),
    [own.uid],
  );
  assert.equal(await end(here.token, elsewhere.uid), 404);
  assert.equal(await end(here.token, own.uid), 200);
  assert.equal((await list(here.token)).status, 401);
});

test("a program's session is the family of its refresh tokens", async () => {
  const identity = await platform.identity(platform.organization);
  const row = { identity, caller: "{}", expire_time: platform.clock.nowMs() + 1000_000, create_time: 1, seen_time: 2 };
  const family = "01234567-89ab-4def-8000-000000000000";
  await platform.transact(async (tx) => {
    const values = [
      { ...row, hash: "used", family, used_time: 1 },
      { ...row, hash: "good", family, used_time: null },
      { ...row, hash: "other", family: "f".repeat(36), used_time: null, create_time: 0, seen_time: 0 },
    ];
    await tx.insertInto("refresh_tokens").values(values).execute();
  });
  const token = await platform.token(identity);
  const [first, second] = rows(await list(token));
  assert.deepEqual(
    [first?.uid, first?.["kind"], first?.createTime, first?.["current"] ?? false, second?.createTime],
    [`${identity}/0123456789ab4def`, "SESSION_KIND_PROGRAM", "1970-01-01T00:00:00.001Z", false, undefined],
  );
  assert.equal(await end(token, first?.uid), 200);
  const left = await platform.reader
    .selectFrom("refresh_tokens")
    .select("hash")
    .where("identity", "=", identity)
    .execute();
  assert.deepEqual(
    left.map(({ hash }) => hash),
    ["other"],
  );
});

test("pages, order and totals are as in every list", async () => {
  const identity = await platform.identity(platform.organization);
  const token = await platform.token(identity);
  for (let n = 0; n < 5; n += 1) {
    await begin(identity);
    platform.clock.offsetMs += 10;
  }
  const whole = rows(await list(token, "order_by=create_time")).map(({ uid }) => uid);
  assert.equal(whole.length, 5);
  assert.deepEqual(
    rows(await list(token)).map(({ uid }) => uid),
    whole.toReversed(),
  );
  const paged: string[] = [];
  for (let pageToken = ""; ;) {
    const { body } = await list(token, `order_by=create_time&page_size=2&page_token=${pageToken}`);
    assert.equal(body.totalCount, "5");
    paged.push(...(body["sessions"] as Json[]).map(({ uid }) => uid));
    if (!(pageToken = body.nextPageToken)) break;
  }
  assert.deepEqual(paged, whole);
  const skipped = await list(token, "order_by=create_time&skip=3");
  assert.deepEqual([skipped.body.skipped, rows(skipped).map(({ uid }) => uid)], [3, whole.slice(3)]);
  assert.equal((await list(token, "order_by=identity")).status, 400);
  platform.clock.offsetMs += 3_600_000;
  assert.deepEqual(rows(await list(await platform.token(identity))), [], "sessions that were not used have ended");
  platform.clock.offsetMs = 0;
});

test("others list with identity.list and end with identity.update; who may neither learns nothing", async () => {
  const identity = await platform.identity(platform.organization, "viewer");
  await begin(identity);
  const about = `identity=${identity}`;
  const [uid] = rows(await list(await platform.token(), about)).map((one) => one.uid);
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  const stranger = await platform.token(await platform.identity(platform.organization));
  assert.equal(rows(await list(viewer, about)).length, 1);
  assert.deepEqual([rows(await list(stranger, about)), (await list(stranger, about)).body.totalCount], [[], "0"]);
  assert.deepEqual(rows(await list(viewer, "identity=nobody")), []);
  assert.equal(await end(viewer, uid), 403);
  assert.equal(await end(stranger, uid), 404);
  assert.equal(await end(viewer, `${identity}/0123456789abcdef`), 404);
  const body = { cap: ["repo.list"] };
  const { body: exchanged } = await platform.call("POST", "/sts/exchange", {
    token: await platform.token(identity),
    body,
  });
  const narrowed = String(exchanged["token"]);
  assert.deepEqual([rows(await list(narrowed)), await end(narrowed, uid)], [[], 404]);
  assert.equal(await end(await platform.token(), uid), 200);
});

test("a person's sessions are listed and ended in the group of the identity provider", async () => {
  const idp = await addProvider(platform, people);
  const browser = openBrowser();
  const query = new URLSearchParams({ identity_provider: idp, return_to: "/session" });
  const shown = await browser.signIn(`${platform.url}/sign-in?${query}`, "ada");
  const { identity } = JSON.parse(shown.text) as { identity: string };
  const owner = await platform.token();
  const viewer = await platform.token(await platform.identity(platform.organization, "viewer"));
  const found = await list(owner, `identity=${identity}`);
  assert.deepEqual([rows(found).length, rows(found)[0]?.["provider"]], [1, idp]);
  const uid = rows(found)[0]?.uid;
  assert.equal(await end(viewer, uid), 403);
  assert.equal(await end(await platform.token(await platform.identity(platform.organization)), uid), 404);
  assert.equal(await end(owner, uid), 200);
  const cookie = browser.cookies(platform.url).join("; ");
  assert.equal((await platform.call("GET", "/session", { headers: { cookie } })).status, 401);
  const entries = await platform.reader.selectFrom("audit_entries").selectAll().where("parent", "=", idp).execute();
  assert.ok(entries.some(({ method, details }) => method.endsWith(".DeleteSession") && details.includes(String(uid))));
});
