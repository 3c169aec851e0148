import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { decodeJwt } from "jose";
import { auditRetention } from "../../../kernel/src/audit/index.ts";
import { collectInstallation } from "../../src/admin/index.ts";
import { loadConfig } from "../../src/index.ts";
import type { Row } from "../../../kernel/src/store/index.ts";
import { openCommandWriter } from "../../src/installation/stores.ts";
import { databaseEnv, dropDatabase, openTestStore } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { pushImage } from "../support/image.ts";
import { digestOf, OCI_IMAGE, startInstallation } from "../support/installation.ts";
import { type Issuer, openIssuer } from "../support/issuer.ts";
import { blamed, DIGEST, type Json, type Platform, reason, rows, startPlatform } from "../support/platform.ts";

// The audit log: who did what to which resource, from where, with which token, allowed or denied and why.

interface Entry {
  uid: string;
  createTime: string;
  identity: string;
  tokenId: string;
  act: Record<string, string>;
  method: string;
  resource: string;
  decision: string;
  code: number;
  reason: string;
  details: Record<string, string>;
  requestId: string;
  remoteAddress: string;
  userAgent: string;
}

const LIST = "/iam/v2/auditEntries";
const [ALLOWED, DENIED] = ["AUDIT_DECISION_ALLOWED", "AUDIT_DECISION_DENIED"];

const idOf = (token: string): string => String(decodeJwt(token).jti);
const query = (asked: Record<string, string>): string => `${LIST}?${new URLSearchParams(asked)}`;

let platform: Platform;
let issuer: Issuer;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  issuer = await openIssuer();
});
after(async () => {
  await platform.close();
  await issuer.close();
});

const listed = async (asked: Record<string, string>): Promise<Entry[]> =>
  rows<Entry>(platform.ok("GET", query(asked)), "auditEntries");

/** The entries of the list once it has this many; rejections are written within a second. */
async function found(asked: Record<string, string>, count = 1): Promise<Entry[]> {
  const entries = await eventually(
    async () => {
      const some = await listed(asked);
      return some.length >= count && some;
    },
    { instead: () => listed(asked) },
  );
  assert.equal(entries.length, count, JSON.stringify(entries, undefined, 1));
  return entries;
}

async function one(asked: Record<string, string>): Promise<Entry> {
  const [entry] = await found(asked);
  assert.ok(entry);
  return entry;
}

describe("a change and its entry are written together", () => {
  test("an API method has an entry with the caller, the method, the address, the token and the resource", async () => {
    const { uid: group } = await platform.group(platform.organization, { name: "audited" });
    const admin = await platform.identity(group, "owner");
    const token = await platform.token(admin);
    const answer = await platform.call("POST", `/registry/v2/repos/${group}`, {
      token,
      body: { name: "app" },
      headers: { "user-agent": "u".repeat(300) },
    });
    const made = await one({ resource: answer.body.uid });
    const { uid, createTime, ...rest } = made;
    assert.match(uid, new RegExp(`^${answer.body.uid}/[0-9a-f]{16}$`));
    assert.ok(Math.abs(Date.parse(createTime) - platform.clock.nowMs()) < 60_000);
    assert.deepEqual(rest, {
      identity: admin,
      tokenId: idOf(token),
      act: {},
      method: "moorage.registry.v2.ReposService.CreateRepo",
      resource: answer.body.uid,
      decision: ALLOWED,
      code: 0,
      reason: "",
      details: { name: "app" },
      requestId: answer.headers["x-request-id"],
      remoteAddress: "127.0.0.1",
      userAgent: "u".repeat(256),
    });
    await platform.call("DELETE", `/registry/v2/repos/${answer.body.uid}`, { token });
    const [last, first] = await found({ resource: answer.body.uid }, 2);
    assert.deepEqual(
      [last?.method, first],
      ["moorage.registry.v2.ReposService.DeleteRepo", made],
      "the entry stays when its resource goes, newest first",
    );
  });

  test("a binding's entry has the identity and the role; a batch has an entry each; accepting an invite has the binding", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const [left, right] = [await platform.identity(group), await platform.identity(group)];
    const viewer = await platform.role("viewer");
    const bound = await platform.bind(group, left, viewer);
    const entry = await one({ resource: bound });
    assert.deepEqual(
      [entry.method, entry.details],
      ["moorage.iam.v2.RoleBindingsService.CreateRoleBinding", { identity: left, role: viewer }],
    );
    await platform.ok("POST", "/iam/v2/roleBindings:batchCreate", {
      parent: group,
      roleUid: viewer,
      requests: [left, right].map((identityUid) => ({ roleBinding: { identityUid } })),
    });
    const batch = await found(
      { "uidp.descendantsOf": group, method: "moorage.iam.v2.RoleBindingsService.BatchCreateRoleBindings" },
      2,
    );
    assert.deepEqual(batch.map(({ details }) => details["identity"]).sort(), [left, right].sort());
    const { code } = await platform.ok("POST", `/iam/v2/groupInvites/${group}`, { roleUid: viewer, ttl: "3600s" });
    await platform.call("POST", "/iam/v2/groupInvites:accept", { token: await platform.token(right), body: { code } });
    const accepted = await one({ identity: right });
    assert.deepEqual(
      [accepted.method, accepted.details["role"]],
      ["moorage.iam.v2.GroupInvitesService.AcceptGroupInvite", viewer],
    );
  });

  test("pushes, the repos they make, tag moves and deletions in the registry have entries", async () => {
    const { uid: group, name } = await platform.group(platform.organization);
    const image = `${platform.bootstrap.organization.name}/${name}/deep/app`;
    const digest = await pushImage(platform, image, "v1");
    const [repo] = await rows(platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}`), "repos");
    await platform.tag(repo?.uid ?? "", { name: "v2", digest });
    const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
    assert.equal((await platform.call("DELETE", `/v2/${image}/manifests/v1`, { token })).status, 202);
    assert.equal((await platform.call("DELETE", `/v2/${image}/manifests/${digest}`, { token })).status, 202);
    const entries = await found({ "uidp.descendantsOf": group }, 7);
    // Entries of one transaction have the same time.
    assert.deepEqual(entries.map(({ method }) => method.split(".").slice(-3).join(".")).sort(), [
      "registry.group.create",
      "registry.manifest.delete",
      "registry.manifest.put",
      "registry.repo.create",
      "registry.tag.delete",
      "v2.GroupsService.CreateGroup",
      "v2.TagsService.CreateTag",
    ]);
    const named = (method: string): Entry | undefined => entries.find((entry) => entry.method === method);
    assert.deepEqual(named("registry.manifest.put")?.details, { name: "v1", digest });
    const deletion = named("registry.manifest.delete");
    assert.deepEqual(
      [deletion?.details, deletion?.resource, deletion?.identity, deletion?.tokenId],
      [{ digest, tags: "v2" }, repo?.uid, platform.owner, idOf(token)],
    );
  });

  test("exchanges have the external token's issuer and subject, and the id of the issued token", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const { uid: identity } = await platform.ok("POST", `/iam/v2/identities/${group}`, {
      name: "job",
      claimMatch: { issuer: issuer.url, subject: "job", audience: platform.url },
    });
    const seconds = Math.floor(Date.now() / 1000);
    const external = await issuer.sign({
      iss: issuer.url,
      sub: "job",
      aud: platform.url,
      iat: seconds,
      exp: seconds + 600,
      secret: "not-for-the-log",
    });
    const { body: first } = await platform.call("POST", "/sts/exchange", { token: external });
    const exchanged = await one({ resource: identity, method: "sts.exchange" });
    assert.deepEqual(
      [exchanged.identity, exchanged.tokenId, exchanged.act, exchanged.details],
      [identity, "", { iss: issuer.url, sub: "job" }, { token: idOf(String(first["token"])) }],
    );
    const { body: narrowed } = await platform.call("POST", "/sts/exchange?cap=CAP_REPO_LIST", {
      token: String(first["token"]),
    });
    const own = (await found({ resource: identity, method: "sts.exchange" }, 2))[0];
    assert.deepEqual(
      [own?.tokenId, own?.act, own?.details],
      [idOf(String(first["token"])), exchanged.act, { token: idOf(String(narrowed["token"])) }],
    );
    const refresh = String(first["refreshToken"]);
    const { body: pair } = await platform.call("POST", "/sts/exchange_refresh_token", { token: refresh });
    const refreshed = await one({ resource: identity, method: "sts.refresh" });
    assert.deepEqual(
      [refreshed.decision, refreshed.details],
      [ALLOWED, { token: idOf((pair["token"] as { token: string }).token) }],
    );
    assert.equal((await platform.call("POST", "/sts/exchange_refresh_token", { token: refresh })).status, 401);
    const reused = await one({ resource: identity, method: "sts.refresh", decision: DENIED });
    assert.deepEqual([reused.reason, reused.identity, reused.code], ["REFRESH_TOKEN_REUSED", identity, 16]);
    const forged = await issuer.sign({
      iss: issuer.url,
      sub: "another",
      aud: platform.url,
      iat: seconds,
      exp: seconds + 600,
    });
    assert.equal((await platform.call("POST", `/sts/exchange?identity=${identity}`, { token: forged })).status, 401);
    const refused = await one({ resource: identity, method: "sts.exchange", decision: DENIED });
    assert.deepEqual([refused.identity, refused.act, refused.code], ["", { iss: issuer.url, sub: "another" }, 16]);
    assert.match(refused.reason, /^CLAIM: /);
  });

  test("a change that is rolled back has no entry, nor has a request that changes nothing", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const { uid: repo } = await platform.repo(group, { name: "taken" });
    const token = await platform.token();
    const again = await platform.call("POST", `/registry/v2/repos/${group}`, { token, body: { name: "taken" } });
    assert.equal(again.status, 409);
    await platform.tag(repo, { name: "one" });
    await platform
      .ok("POST", `/registry/v2/repos/${repo}:promoteTags`, {
        validateOnly: true,
        promotions: [{ name: "two", fromTag: "one" }],
      })
      .catch(() => undefined);
    const entries = await found({ "uidp.descendantsOf": group }, 3);
    assert.deepEqual(
      entries.map(({ decision, method }) => [decision, method.split(".").at(-1)]),
      [
        [ALLOWED, "CreateTag"],
        [ALLOWED, "CreateRepo"],
        [ALLOWED, "CreateGroup"],
      ],
    );
  });
});

describe("rejections are recorded", () => {
  test("with the reason: a missing capability, a resource that the caller cannot see, and one that prevents the change", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const { uid: repo } = await platform.repo(group);
    const viewer = await platform.identity(group, "viewer");
    const stranger = await platform.identity(group);
    const token = await platform.token(viewer);
    assert.equal((await platform.call("DELETE", `/registry/v2/repos/${repo}`, { token })).status, 403);
    assert.equal(
      (await platform.call("GET", `/registry/v2/repos/${repo}`, { token: await platform.token(stranger) })).status,
      404,
    );
    assert.equal(
      (await platform.call("DELETE", `/iam/v2/groups/${group}`, { token: await platform.token() })).status,
      400,
    );
    const denied = await one({ identity: viewer });
    assert.deepEqual(
      [denied.decision, denied.code, denied.reason, denied.resource, denied.tokenId],
      [DENIED, 7, "lacks CAP_REPO_DELETE", repo, idOf(token)],
    );
    const hidden = await one({ identity: stranger });
    assert.deepEqual([hidden.code, hidden.reason, hidden.resource], [5, "NOT_FOUND", repo]);
    const inTheWay = await one({ resource: group, decision: DENIED });
    assert.deepEqual([inTheWay.code, inTheWay.reason, inTheWay.identity], [9, "RESOURCE_NOT_EMPTY", platform.owner]);
    assert.equal((await platform.ok("GET", `/registry/v2/repos/${repo}`)).uid, repo, "nothing was changed");
  });

  test("tokens for another audience, of a deleted identity or of none are recorded; a request without a token is not", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const gone = await platform.identity(group, "owner");
    const token = await platform.token(gone);
    await platform.ok("DELETE", `/iam/v2/identities/${gone}`);
    assert.equal((await platform.call("GET", "/iam/v2/groups", { token })).status, 401);
    const refused = (await found({ identity: gone }))[0];
    assert.deepEqual([refused?.code, refused?.tokenId, refused?.resource], [16, idOf(token), gone]);
    const elsewhere = await platform.token(await platform.identity(group), {
      audience: "https://elsewhere.example.com",
    });
    assert.equal((await platform.call("GET", "/v2/", { token: elsewhere })).status, 401);
    assert.equal((await platform.call("GET", "/iam/v2/roles", { token: "not-a-token" })).status, 401);
    assert.equal((await platform.call("GET", "/iam/v2/identities")).status, 401);
    assert.equal((await one({ identity: String(decodeJwt(elsewhere).sub) })).reason, "AUDIENCE");
    const [nobody] = await found({ "uidp.inRoot": "true", method: "moorage.iam.v2.RolesService.ListRoles" });
    assert.deepEqual([nobody?.identity, nobody?.decision, nobody?.remoteAddress], ["", DENIED, "127.0.0.1"]);
    assert.deepEqual(await listed({ method: "moorage.iam.v2.IdentitiesService.ListIdentities", decision: DENIED }), []);
  });

  test("a request with two tokens is denied and recorded", async () => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest(
        `${platform.url}/iam/v2/groups`,
        { headers: ["Host", "127.0.0.1", "Authorization", "Bearer one", "Authorization", "Bearer two"] },
        resolve,
      )
        .on("error", reject)
        .end();
    });
    answer.resume();
    assert.equal(answer.statusCode, 401);
    const entry = await one({ method: "door" });
    assert.deepEqual(
      [entry.reason, entry.identity, entry.resource, entry.requestId],
      ["TWO_TOKENS", "", "", answer.headers["x-request-id"]],
    );
  });

  test("a rejected push has the existing part of its path as the resource, and creates nothing", async () => {
    const { uid: group, name } = await platform.group(platform.organization);
    const viewer = await platform.identity(group, "viewer");
    const token = await platform.token(viewer, { audience: new URL(platform.url).host });
    const path = `${platform.bootstrap.organization.name}/${name}/new/app`;
    const push = (image: string) => platform.call("POST", `/v2/${image}/blobs/uploads/`, { token });
    assert.equal((await push(path)).status, 403);
    assert.equal((await push("nobody-knows/app")).status, 403);
    const [here, elsewhere] = (await found({ identity: viewer }, 2)).sort(
      (left, right) => left.resource.length - right.resource.length,
    );
    assert.deepEqual(
      [here?.resource, here?.details, here?.reason],
      [group, { repository: path }, "lacks CAP_MANIFEST_CREATE"],
    );
    assert.deepEqual([elsewhere?.resource, elsewhere?.details], [viewer, {}]);
    assert.deepEqual(await rows(platform.ok("GET", `/registry/v2/repos?uidp.descendants_of=${group}`), "repos"), []);
  });
});

describe("the list", () => {
  test("shows the entries of an organization to callers who may read them there", async () => {
    const { uid: other } = await platform.ok("POST", "/iam/v2/groups", { name: "another" });
    const theirs = await platform.identity(other, "owner");
    const viewer = await platform.identity(platform.organization, "viewer");
    const { uid: team } = await platform.group(platform.organization);
    const lead = await platform.identity(team, "owner");
    await platform.repo(team);
    const seenBy = async (identity: string, asked: Record<string, string> = {}): Promise<Entry[]> =>
      await rows<Entry>(
        (await platform.call("GET", query({ pageSize: "200", ...asked }), { token: await platform.token(identity) }))
          .body,
        "auditEntries",
      );
    const resources = new Set((await seenBy(theirs)).map(({ resource }) => resource.slice(0, 40)));
    assert.deepEqual([...resources], [other], "nothing of ours, and nothing of nobody's");
    assert.deepEqual(await seenBy(viewer), []);
    assert.deepEqual(await seenBy(theirs, { "uidp.descendantsOf": platform.organization }), []);
    assert.deepEqual(await seenBy(theirs, { resource: team }), []);
    const own = await seenBy(lead);
    assert.ok(own.length >= 2 && own.every(({ resource }) => resource === team || resource.startsWith(`${team}/`)));
    assert.ok(
      (await seenBy(platform.owner)).some(({ resource }) => resource.startsWith(`${other}/`)),
      "who made it holds it",
    );
  });

  test("is open to auditors; who sees a group and may not read its log is refused, not shown an empty one", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const { uid: team } = await platform.group(group);
    const { uid: repo } = await platform.repo(team);
    const token = async (role: string, at = group): Promise<string> =>
      await platform.token(await platform.identity(at, role));
    const { uid: another } = await platform.ok("POST", "/iam/v2/groups", { name: "of strangers" });
    const auditor = await token("auditor");
    const [viewer, lead, stranger] = [await token("viewer"), await token("owner", team), await token("owner", another)];
    const about: Record<string, string>[] = [
      { "uidp.descendantsOf": group },
      { "uidp.childrenOf": group },
      { resource: group },
      { resource: repo },
    ];
    for (const asked of about) {
      const path = query({ pageSize: "200", ...asked });
      const seen = await platform.call("GET", path, { token: auditor });
      assert.equal(seen.status, 200, seen.text);
      assert.notEqual(seen.body.totalCount, "0", JSON.stringify(asked));
      const refused = await platform.call("GET", path, { token: viewer });
      assert.deepEqual([refused.status, reason(refused)], [403, "PERMISSION_DENIED"], refused.text);
      assert.equal(refused.body.details[0]?.metadata?.["missing"], "CAP_IAM_AUDIT_LIST");
      const hidden = await platform.call("GET", path, { token: stranger });
      assert.deepEqual([hidden.status, hidden.body.totalCount], [200, "0"], "what it may not see is not there");
    }
    const part = await platform.call("GET", query({ "uidp.descendantsOf": group }), { token: lead });
    assert.notEqual(part.body.totalCount, "0", "whoever may read a part of it reads that part");
    const anywhere = await platform.call("GET", query({}), { token: viewer });
    assert.deepEqual([anywhere.status, anywhere.body.totalCount], [200, "0"], "no group was asked for");
    const found = await platform.call("GET", `/registry/v2/repos/${repo}`, { token: auditor });
    assert.equal(found.status, 200, "an auditor sees what the entries are about");
    const change = await platform.call("DELETE", `/registry/v2/repos/${repo}`, { token: auditor });
    assert.equal(change.status, 403);
  });

  test("is newest first or oldest first, in pages that are stable while entries are added", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const { uid: repo } = await platform.repo(group);
    for (const name of ["a", "b", "c", "d", "e"]) {
      platform.clock.offsetMs += 10;
      await platform.tag(repo, { name });
    }
    const asked = { "uidp.descendantsOf": repo, method: "moorage.registry.v2.TagsService.CreateTag", page_size: "2" };
    const page = (more: Record<string, string> = {}): Promise<Json> => platform.ok("GET", query({ ...asked, ...more }));
    const names = (answer: Json): string[] =>
      (answer["auditEntries"] as Entry[]).map(({ details }) => details["name"] ?? "");
    const first = await page();
    assert.deepEqual([names(first), first.totalCount], [["e", "d"], "5"]);
    await platform.tag(repo, { name: "f" });
    const second = await page({ page_token: first.nextPageToken });
    const third = await page({ page_token: second.nextPageToken });
    assert.deepEqual([names(second), names(third), third.nextPageToken], [["c", "b"], ["a"], ""]);
    assert.deepEqual(names(await page({ order_by: "create_time" })), ["a", "b"]);
    assert.deepEqual([names(await page({ skip: "3" })), (await page({ skip: "3" })).skipped], [["c", "b"], 3]);
    const wrong = await platform.call("GET", query({ order_by: "identity" }), { token: await platform.token() });
    assert.deepEqual([wrong.status, blamed(wrong)], [400, ["order_by"]]);
  });

  test("is filtered by identity, method, decision, resource and time", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const { uid: repo } = await platform.repo(group);
    const editor = await platform.identity(group, "editor");
    const token = await platform.token(editor);
    platform.clock.offsetMs += 5000;
    const since = new Date(platform.clock.nowMs()).toISOString();
    await platform.call("POST", `/registry/v2/tags/${repo}`, { token, body: { name: "x", digest: DIGEST } });
    await platform.call("DELETE", `/iam/v2/groups/${group}`, { token });
    platform.clock.offsetMs += 5000;
    const until = new Date(platform.clock.nowMs()).toISOString();
    await platform.call("POST", `/registry/v2/tags/${repo}`, { token, body: { name: "y", digest: DIGEST } });
    const ways: [Record<string, string>, number][] = [
      [{ identity: editor }, 3],
      [{ identity: editor, decision: DENIED ?? "" }, 1],
      [{ identity: editor, decision: ALLOWED ?? "" }, 2],
      [{ identity: editor, since }, 3],
      [{ identity: editor, since, until }, 2],
      [{ identity: editor, since: until }, 1],
      [{ identity: editor, method: "moorage.iam.v2.GroupsService.DeleteGroup" }, 1],
      [{ resource: group, identity: editor }, 1],
      [{ "uidp.descendantsOf": repo, since }, 2],
      [{ "uidp.childrenOf": repo }, 1],
      [{ identity: platform.owner, resource: repo }, 1],
      [{ resource: "no uid" }, 0],
      [{ "uidp.descendantsOf": group, decision: DENIED ?? "" }, 1],
    ];
    await found({ identity: editor }, 3);
    for (const [asked, count] of ways) assert.equal((await listed(asked)).length, count, JSON.stringify(asked));
    const wrong = await platform.call("GET", query({ decision: "PERHAPS" }), { token });
    assert.equal(wrong.status, 400);
  });
});

/** All rows of the audit log of a data folder. */
async function logOf(dataDir: string): Promise<Row<"audit_entries">[]> {
  const { store, close } = await openTestStore(dataDir);
  try {
    return await store.reader.selectFrom("audit_entries").selectAll().orderBy("create_time").execute();
  } finally {
    await close();
  }
}

test("a clean shutdown loses no rejection, a flood of them is bounded, and the log contains no secrets", async (t) => {
  const house = await startInstallation(t);
  const organization = house.bootstrap.organization.uid;
  const { identity } = await house.addIdentity(organization, "viewer", "viewer");
  const token = await house.tokenFor("platform", identity);
  const { code } = await house.api<{ code: string }>("POST", `/iam/v2/groupInvites/${organization}`, {
    roleUid: await house.roleUid("viewer"),
    ttl: "3600s",
  });
  await house.ask("POST", "/iam/v2/groupInvites:accept", { token: house.platform, json: { code } });
  await house.ask("POST", "/iam/v2/groupInvites:accept", { token: house.platform, json: { code: `${code}-wrong` } });
  const password = randomBytes(16).toString("hex");
  await house.api("POST", `/registry/v2/repos/${organization}`, {
    name: "mirrored",
    syncConfig: { source: "registry.example.com/app", username: "reader", password },
  });
  await house.ask("GET", "/token", { basic: `someone:${password}` });
  for (let at = 0; at < 100; at += 1)
    await house.ask("POST", `/registry/v2/repos/${organization}`, { token, json: { name: "denied" } });
  await house.ask("DELETE", `/iam/v2/groups/${organization}`, { token });
  await house.close();
  const log = await logOf(house.dataDir);
  const denied = log.filter((row) => row.identity === identity && row.decision === 2);
  assert.equal(denied.filter(({ method }) => method.endsWith("DeleteGroup")).length, 1);
  const flood = denied.filter(({ method }) => method.endsWith("CreateRepo"));
  assert.equal(flood.length, 21, "the first twenty, and one for all others");
  assert.deepEqual(
    flood.map(({ details }) => JSON.parse(details) as object).filter((details) => "repeated" in details),
    [{ repeated: "80" }],
  );
  const text = JSON.stringify(log);
  for (const secret of [
    token,
    house.platform,
    house.registry,
    code,
    password,
    ...[token, house.platform].map((each) => each.split(".")[2] ?? ""),
  ]) {
    assert.ok(!text.includes(secret), secret);
  }
  assert.ok(log.some(({ method, decision }) => method.endsWith("AcceptGroupInvite") && decision === 1));
});

test("a rollback removes the entries of the transaction, and the rejection is recorded", async (t) => {
  const strict = await startPlatform({}, [
    { id: "rules", label: "Rules", url: "https://moorage.example.com/rules", required: ["push"] },
  ]);
  t.after(() => strict.close());
  const token = await strict.token(strict.owner, { audience: new URL(strict.url).host });
  const digest = `sha256:${createHash("sha256").update("layer").digest("hex")}`;
  const name = strict.bootstrap.organization.name;
  // The command creates the repo with its entry before it finds that the rules are not accepted.
  const push = await strict.call("POST", `/v2/${name}/held/back/blobs/uploads/?digest=${digest}`, {
    token,
    raw: "layer",
    headers: { "content-type": "application/octet-stream" },
  });
  assert.equal(push.status, 400);
  const entries = await eventually(async () => {
    const some = await rows<Entry>(strict.ok("GET", LIST), "auditEntries");
    return some.length > 0 && some;
  });
  assert.deepEqual(
    entries.map(({ method, decision, reason, resource, details }) => ({ method, decision, reason, resource, details })),
    [
      {
        method: "registry.write",
        decision: DENIED,
        reason: "TERMS_NOT_ACCEPTED",
        resource: strict.organization,
        details: { repository: `${name}/held/back` },
      },
    ],
  );
});

test("what the server does by itself has no identity, and is marked so", async (t) => {
  const house = await startInstallation(t);
  const image = `${house.bootstrap.organization.name}/app`;
  await house.pushImage(image, "old", "one");
  const policy = { retention: [{ tagPattern: ".*", keepLast: 1 }] };
  const [repo] = (await house.api("GET", "/registry/v2/repos?name=app")).repos;
  await house.api("PATCH", `/registry/v2/repos/${repo?.uid}?update_mask=tag_policy`, { tagPolicy: policy });
  await house.pushImage(image, "new", "two");
  const untagged = {
    schemaVersion: 2,
    mediaType: OCI_IMAGE,
    config: {
      mediaType: "application/vnd.oci.image.config.v1+json",
      digest: await house.pushBlob(image, "{}"),
      size: 2,
    },
    layers: [],
  };
  assert.equal((await house.pushManifest(image, digestOf(JSON.stringify(untagged)), untagged)).status, 201);
  await house.close();
  const config = loadConfig({ MOORAGE_DATA_DIR: house.dataDir, ...(await databaseEnv(house.dataDir)) });
  await collectInstallation(config, { dryRun: false, graceMs: 0 });
  const own = (await logOf(house.dataDir)).filter(({ act }) => act.includes("system"));
  assert.deepEqual(own.map(({ method, identity, parent }) => [method, identity, parent]).sort(), [
    ["registry.gc.blobs", "", repo?.uid],
    ["registry.gc.manifests", "", repo?.uid],
    ["registry.retention.expire", "", repo?.uid],
  ]);
  assert.deepEqual(JSON.parse(own.find(({ method }) => method === "registry.retention.expire")?.details ?? "{}"), {
    count: "1",
    tags: "old",
  });
});

test("entries older than the setting are removed in every organization, a bounded number at a time", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-audit-"));
  t.after(async () => {
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true });
  });
  const { store, db, close } = await openTestStore(dataDir);
  const day = 86_400_000;
  const nowMs = 1000 * day;
  const row = (uid: string, organization: string, ageMs: number) => ({
    uid,
    parent: organization,
    organization,
    create_time: nowMs - ageMs,
    identity: "",
    token_id: "",
    act: "{}",
    method: "m",
    decision: 1,
    code: 0,
    reason: "",
    details: "{}",
    request_id: "",
    remote_address: "",
    user_agent: "",
  });
  const old = Array.from({ length: 450 }, (_, at) => row(`a/${at}`, "a", 401 * day + at));
  await db
    .insertInto("audit_entries")
    .values([
      ...old,
      row("a/young", "a", 399 * day),
      row("old", "", 401 * day),
      row("young", "", 400 * day),
      row("b/old", "b", 500 * day),
    ])
    .execute();
  const config = loadConfig({ MOORAGE_DATA_DIR: dataDir, ...(await databaseEnv(dataDir)) });
  const writer = await openCommandWriter(store, config, assert.fail);
  const deps = { writer, reader: store.reader, clock: { nowMs: () => nowMs }, retentionMs: config.auditRetentionMs };
  assert.deepEqual(await auditRetention(deps, new AbortController().signal), { removed: 452 });
  assert.deepEqual(
    (await store.reader.selectFrom("audit_entries").select("uid").orderBy("uid").execute()).map(({ uid }) => uid),
    ["a/young", "young"],
  );
  await assert.rejects(auditRetention(deps, AbortSignal.abort()));
  await writer.close();
  await close();
});
