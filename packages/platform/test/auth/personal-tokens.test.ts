import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PersonalTokensService } from "@moorage/api";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Issuer, openIssuer } from "../../../server/test/support/issuer.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { npmPath, publishNpm } from "../../../server/test/support/npm.ts";
import {
  askForToken,
  grantedActions,
  logIn,
  makeToken,
  peopleOf,
  type SignedInPerson,
  signInAs,
} from "../../../server/test/support/personal-tokens.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  reason,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// Tokens that people make for programs of their own: what they are good for, who sees them, and when they end.
let platform: Platform;
let issuer: Issuer;
let provider: string;
let ada: SignedInPerson;
let count = 0;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
  await pushImage(platform, "acme/app", "v1");
  provider = await peopleOf(platform, issuer, { group: platform.organization, role: "registry.push" });
  ada = await person();
});
after(async () => {
  await issuer?.close();
  await platform?.close();
});

const DAY_MS = 86_400_000;
const PULL = ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST", "CAP_REPO_BLOBS_GET", "CAP_MANIFEST_LIST", "CAP_TAG_LIST"];
const person = (): Promise<SignedInPerson> => signInAs(platform, issuer, provider, `person-${(count += 1)}`);
const inTime = (ms: number): string => new Date(platform.clock.nowMs() + ms).toISOString();
const get = (path: string, token: string): Promise<Answer> => platform.call("GET", path, { token });
const listed = async (token: string, query = ""): Promise<Json[]> =>
  (await get(`/iam/v2/personalTokens?${query}`, token)).body["personalTokens"] as Json[];
const revoke = (token: string, uid: string): Promise<Answer> =>
  platform.call("DELETE", `/iam/v2/personalTokens/${uid}`, { token });

test("a person makes a token; it is answered once, and only its hash is stored", async () => {
  const expirationTime = inTime(30 * DAY_MS);
  const made = await makeToken(platform, ada.token, {
    name: "docker on the laptop",
    capabilities: PULL,
    groups: [platform.organization],
    expirationTime,
  });
  assert.match(made.token, /^mrg_pat_[A-Za-z0-9]{40}$/);
  assert.match(made.uid, new RegExp(`^${ada.uid}/[0-9a-f]{16}$`));
  assert.deepEqual(
    [made.name, made["capabilities"], made["groups"], made["hint"], made["identity"], made["lastUsedTime"]],
    ["docker on the laptop", PULL, [platform.organization], made.token.slice(-4), ada.uid, undefined],
  );
  assert.equal(Date.parse(String(made["expirationTime"])), Date.parse(expirationTime));
  const { token, ...shown } = made;
  assert.deepEqual((await get(`/iam/v2/personalTokens/${made.uid}`, ada.token)).body, { ...shown, token: "" });
  const stored = await platform.reader.selectFrom("personal_tokens").selectAll().where("uid", "=", made.uid).execute();
  assert.ok(!JSON.stringify(stored).includes(token.slice(8, 40)));
  const inLog = await platform.reader.selectFrom("audit_entries").selectAll().execute();
  assert.ok(!JSON.stringify(inLog).includes(token.slice(8, 40)));
  const without = await makeToken(platform, ada.token);
  assert.deepEqual([without["capabilities"] ?? [], without["groups"] ?? []], [[], []]);
  const days = (Date.parse(String(without["expirationTime"])) - platform.clock.nowMs()) / DAY_MS;
  assert.ok(days > 89 && days <= 90, "90 days where nothing is said");
});

test("names, ends, groups and capabilities that cannot be are refused with their fields", async () => {
  const other = await platform.ok("POST", "/iam/v2/groups", { name: "elsewhere" });
  for (const [fields, field] of [
    [{ name: "" }, "name"],
    [{ name: "two\nlines" }, "name"],
    [{ name: "x".repeat(101) }, "name"],
    [{ expirationTime: inTime(-1000) }, "expirationTime"],
    [{ expirationTime: inTime(367 * DAY_MS) }, "expirationTime"],
    [{ groups: ["nothing"] }, "groups[0]"],
    [{ groups: [platform.organization, other.uid] }, "groups[1]"],
    [{ groups: [ada.uid] }, "groups[0]"],
    [{ capabilities: ["CAPABILITY_UNSPECIFIED"] }, "capabilities"],
  ] as const) {
    const answer = await askForToken(platform, ada.token, fields);
    assert.equal(answer.status, 400, `${JSON.stringify(fields)}: ${answer.text}`);
    assert.deepEqual(blamed(answer), [field], JSON.stringify(fields));
  }
  assert.equal((await askForToken(platform, ada.token, { expirationTime: inTime(365 * DAY_MS) })).status, 200);
});

test("it is the bearer token of REST, gRPC and MCP, and the password of docker, npm and others", async () => {
  const { token } = await makeToken(platform, ada.token);
  assert.equal((await get(`/iam/v2/groups/${platform.organization}`, token)).status, 200);
  const byGrpc = await platform.grpc.call(PersonalTokensService.method.listPersonalTokens, {}, token);
  assert.equal(byGrpc.error, undefined);
  const initialize = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const mcp = await platform.call("POST", "/mcp", {
    token,
    body: initialize,
    headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" },
  });
  assert.equal(mcp.status, 200, mcp.text);
  const registry = await logIn(platform, token, "repository:acme/app:pull,push");
  assert.deepEqual(grantedActions(registry), ["pull", "push"]);
  const manifest = "/v2/acme/app/manifests/v1";
  assert.equal((await get(manifest, String(registry.body["token"]))).status, 200);
  assert.equal((await get(manifest, token)).status, 200, "as bearer at the registry");
  const form = new URLSearchParams({ grant_type: "password", username: "x", password: token, service: "x" });
  const posted = await fetch(`${platform.url}/token`, { method: "POST", body: form });
  assert.equal(posted.status, 200);
  await publishNpm(platform, "acme", "left", "1.0.0", { token });
  const basic = `Basic ${Buffer.from(`any:${token}`).toString("base64")}`;
  for (const authorization of [basic, `Bearer ${token}`])
    for (const path of [npmPath("acme", "left"), "/pypi/acme/simple/"])
      assert.equal((await platform.call("GET", path, { headers: { authorization } })).status, 200, path);
  const file = "/maven/acme/-/com/example/app/1.0/app-1.0.jar";
  const put = await platform.call("PUT", file, { raw: "jar", headers: { authorization: basic } });
  assert.equal(put.status, 201, put.text);
  assert.equal((await platform.call("GET", file, { headers: { authorization: basic } })).status, 200);
});

test("a user name that is the uid of another identity changes nothing", async () => {
  const { token } = await makeToken(platform, ada.token);
  const answer = await logIn(platform, token, "repository:acme/app:pull", platform.owner);
  assert.deepEqual([answer.status, grantedActions(answer)], [200, ["pull"]]);
});

test("when it was last used is written once a minute, and shown", async () => {
  const made = await makeToken(platform, ada.token);
  const lastUsed = async (): Promise<unknown> =>
    (await get(`/iam/v2/personalTokens/${made.uid}`, ada.token)).body["lastUsedTime"];
  await get("/iam/v2/groups", made.token);
  const first = await eventually(lastUsed);
  for (let n = 0; n < 5; n += 1) await get(`/iam/v2/groups?page_size=${n + 1}`, made.token);
  platform.clock.offsetMs += 61_000;
  await logIn(platform, made.token);
  const second = await eventually(async () => {
    const time = await lastUsed();
    return time !== first && time;
  });
  assert.ok(Date.parse(String(second)) - Date.parse(String(first)) >= 60_000, "nothing was written in between");
  platform.clock.offsetMs = 0;
});

test("revoked, it and what it was exchanged for end with the next request, cached answers included", async () => {
  const made = await makeToken(platform, ada.token);
  const group = `/iam/v2/groups/${platform.organization}`;
  const exchanged = String((await get("/sts/exchange", made.token)).body["token"]);
  const registry = String((await logIn(platform, made.token, "repository:acme/app:pull")).body["token"]);
  const manifest = "/v2/acme/app/manifests/v1";
  const basic = { authorization: `Basic ${Buffer.from(`any:${made.token}`).toString("base64")}` };
  const index = (): Promise<Answer> => platform.call("GET", "/pypi/acme/simple/", { headers: basic });
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await get(group, made.token)).status, 200);
    assert.equal((await get(group, exchanged)).status, 200);
    assert.equal((await get(manifest, registry)).status, 200);
    assert.equal((await index()).status, 200);
  }
  assert.equal((await revoke(ada.token, made.uid)).status, 200);
  assert.equal((await get(group, made.token)).status, 401);
  assert.equal((await get(group, exchanged)).status, 401);
  assert.equal((await get(manifest, registry)).status, 401);
  assert.equal((await index()).status, 401);
  assert.equal((await logIn(platform, made.token)).status, 401);
  assert.equal((await get("/sts/exchange", exchanged)).status, 401);
  assert.equal((await revoke(ada.token, made.uid)).status, 404);
});

test("an expired token is called expired, stays in the list, and ends what was exchanged for it", async () => {
  const made = await makeToken(platform, ada.token, { expirationTime: inTime(600_000) });
  const group = `/iam/v2/groups/${platform.organization}`;
  assert.equal((await get(group, made.token)).status, 200);
  const exchanged = String((await get("/sts/exchange", made.token)).body["token"]);
  platform.clock.offsetMs += 601_000;
  const rejected = await get(group, made.token);
  assert.deepEqual([rejected.status, reason(rejected)], [401, "UNAUTHENTICATED"]);
  assert.match(rejected.body.message, /this personal token expired at .*: make a new one/);
  assert.equal((await get(group, exchanged)).status, 401);
  const docker = await logIn(platform, made.token);
  assert.equal(docker.status, 401);
  assert.match(docker.text, /this personal token expired at/);
  assert.ok((await listed(await platform.token(), `identity=${ada.uid}`)).some(({ uid }) => uid === made.uid));
  platform.clock.offsetMs = 0;
});

test("an answer that was cached for a token is not given once the token has expired", async () => {
  const made = await makeToken(platform, ada.token, { expirationTime: inTime(20_000) });
  const path = `/iam/v2/groups/${platform.organization}`;
  for (let n = 0; n < 3; n += 1) assert.equal((await get(path, made.token)).status, 200);
  const exchanged = String((await get("/sts/exchange", made.token)).body["token"]);
  for (let n = 0; n < 3; n += 1) assert.equal((await get(path, exchanged)).status, 200);
  platform.clock.offsetMs += 21_000;
  for (const token of [made.token, exchanged]) assert.equal((await get(path, token)).status, 401);
  platform.clock.offsetMs = 0;
});

test("it ends with the person, and with the person's provider", async () => {
  const idp = await peopleOf(platform, issuer, { group: platform.organization, role: "viewer" });
  const [bob, eve] = [await signInAs(platform, issuer, idp, "bob"), await signInAs(platform, issuer, idp, "eve")];
  const [his, hers] = [await makeToken(platform, bob.token), await makeToken(platform, eve.token)];
  await platform.ok("DELETE", `/iam/v2/identities/${bob.uid}`);
  assert.equal((await get("/iam/v2/groups", his.token)).status, 401);
  assert.equal((await get("/iam/v2/groups", hers.token)).status, 200);
  await platform.ok("DELETE", `/iam/v2/identityProviders/${idp}`);
  assert.equal((await get("/iam/v2/groups", hers.token)).status, 401);
  const left = await platform.reader
    .selectFrom("personal_tokens")
    .select("uid")
    .where("identity", "in", [bob.uid, eve.uid])
    .execute();
  assert.deepEqual(left, []);
});

test("people see their own; who lists the organization's identities sees and revokes those of its people", async () => {
  const [bob, eve] = [await person(), await person()];
  const [his, hers] = [await makeToken(platform, bob.token), await makeToken(platform, eve.token)];
  const uids = async (token: string, query?: string): Promise<string[]> =>
    (await listed(token, query)).map(({ uid }) => uid);
  assert.deepEqual(await uids(bob.token), [his.uid]);
  assert.equal((await get(`/iam/v2/personalTokens/${hers.uid}`, bob.token)).status, 404);
  assert.equal((await revoke(bob.token, hers.uid)).status, 404);
  const owner = await platform.token();
  const all = await uids(owner, "page_size=200");
  assert.ok(all.includes(his.uid) && all.includes(hers.uid));
  assert.deepEqual(await uids(owner, `identity=${eve.uid}`), [hers.uid]);
  assert.ok((await uids(owner, `group=${platform.organization}&page_size=200`)).includes(hers.uid));
  assert.equal((await revoke(owner, hers.uid)).status, 200);
  assert.equal((await get("/iam/v2/groups", hers.token)).status, 401);
  const log = await get(`/iam/v2/auditEntries?uidp.descendants_of=${platform.organization}&page_size=200`, owner);
  const entries = (log.body["auditEntries"] as Json[])
    .filter((entry) => (entry["details"] as unknown as Record<string, string>)["personalToken"] === hers.uid)
    .map((entry) => [String(entry["method"]).split(".").at(-1), entry["identity"]]);
  assert.deepEqual(entries.sort(), [
    ["CreatePersonalToken", eve.uid],
    ["DeletePersonalToken", platform.owner],
  ]);
  const types = await eventually(async () => {
    const { body } = await get(`/events/v2/events?group=${platform.organization}&page_size=200`, owner);
    const found = (body["events"] as Json[]).filter(({ subject }) => subject === hers.uid);
    return found.length === 2 && found.map(({ type, ...event }) => [type, JSON.stringify(event).includes("mrg_pat_")]);
  });
  assert.deepEqual(types.sort(), [
    ["dev.moorage.api.iam.personaltokens.created.v1", false],
    ["dev.moorage.api.iam.personaltokens.deleted.v1", false],
  ]);
});

test("the first owner, who has no provider, makes tokens, and the organization's log has them", async () => {
  const owner = await platform.token();
  const made = await makeToken(platform, owner, { name: "operator" });
  assert.equal((await get(`/iam/v2/groups/${platform.organization}`, made.token)).status, 200);
  const entries = await platform.reader
    .selectFrom("audit_entries")
    .select("details")
    .where("organization", "=", platform.organization)
    .execute();
  assert.ok(entries.some(({ details }) => details.includes(made.uid)));
  await revoke(owner, made.uid);
});

test("pages, order and totals are as in every list", async () => {
  const bob = await person();
  for (const name of ["b", "c", "a"]) await makeToken(platform, bob.token, { name });
  const names = (rows: Json[]): string => rows.map(({ name }) => name).join("");
  assert.equal(names(await listed(bob.token, "order_by=name")), "abc");
  assert.equal(names(await listed(bob.token, "order_by=name%20desc")), "cba");
  const first = (await get("/iam/v2/personalTokens?order_by=name&page_size=2", bob.token)).body;
  assert.deepEqual([names(first["personalTokens"] as Json[]), first.totalCount], ["ab", "3"]);
  const next = `page_token=${encodeURIComponent(first.nextPageToken)}`;
  assert.equal(names(await listed(bob.token, next)), "c");
  assert.equal((await get("/iam/v2/personalTokens?order_by=hash", bob.token)).status, 400);
});

test("a hundred tokens a person; expired ones give way, others do not", async () => {
  const bob = await person();
  const row = { identity: bob.uid, name: "x", capabilities: "[]", scopes: "[]", hint: "abcd", last_used_time: 0 };
  const nowMs = platform.clock.nowMs();
  await platform.transact(async (tx) => {
    const values = Array.from({ length: 100 }, (_, n) => ({
      ...row,
      uid: `${bob.uid}/${String(n).padStart(16, "0")}`,
      hash: `${bob.uid} ${n}`,
      create_time: nowMs,
      expiration_time: nowMs + (n === 0 ? -1 : 3_600_000),
    }));
    await tx.insertInto("personal_tokens").values(values).execute();
  });
  assert.equal((await askForToken(platform, bob.token)).status, 200);
  const full = await askForToken(platform, bob.token);
  assert.deepEqual(
    [full.status, full.body.message],
    [429, "Resource exhausted: you have 100 personal tokens: revoke one that you no longer use"],
  );
});
