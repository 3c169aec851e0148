import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { GroupInvitesService } from "@moorage/api";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// An invite's code gives a role on a group, once, to the person it is meant for, and never more than its creator could
// give. Source: docs/contract.md, "Resources" and "Capabilities and roles".
let platform: Platform;
let root: string;
let viewer: string;
before(async () => {
  platform = await startPlatform();
  root = platform.organization;
  viewer = await platform.role("viewer");
});
after(() => platform.close());

const METHODS = GroupInvitesService.method;
const HOUR = "3600s";
const invite = (group: string, fields: object = {}): Promise<Json> =>
  platform.ok("POST", `/iam/v2/groupInvites/${group}`, { roleUid: viewer, ttl: HOUR, ...fields });
const codeOf = (made: Json): string => String(made["code"]);
const accept = async (code: string, identity: string): Promise<Answer> =>
  platform.call("POST", "/iam/v2/groupInvites:accept", { token: await platform.token(identity), body: { code } });
/** An identity that sees nothing of the group except by the rights given there. */
const newcomer = (): Promise<string> => platform.identity(root);
const newGroup = async (): Promise<string> => (await platform.group(root)).uid;
const bindingsOn = async (group: string): Promise<string[]> =>
  (await rows(platform.ok("GET", `/iam/v2/roleBindings?uidp.children_of=${group}`), "roleBindings")).map(
    ({ uid }) => uid,
  );
/** Status and ErrorInfo's `reason` of an error answer. */
const rejectionOf = ({ status, body }: Answer): [number, string | undefined] => [
  status,
  body.details.find(({ metadata }) => metadata !== undefined)?.metadata?.["reason"],
];

async function refused(code: string, identity: string, expected: [number, string]): Promise<Answer> {
  const answer = await both(platform, METHODS.acceptGroupInvite, { code }, await platform.token(identity));
  assert.deepEqual(rejectionOf(answer), expected, answer.text);
  assert.ok(!answer.text.includes(code), "the code stands in no answer");
  return answer;
}

test("an invite can be created, read, listed and deleted", async () => {
  const group = await newGroup();
  const made = await invite(group, { email: "Ann@Example.com", singleUse: true });
  const code = codeOf(made);
  assert.match(code, /^[A-Za-z0-9_-]{22,}$/, "at least 128 bits, as a URL takes them");
  assert.equal(made["keyId"], createHash("sha256").update(code).digest("hex").slice(0, 8));
  assert.deepEqual(
    [made.uid.startsWith(`${group}/`), made["roleUid"], made["email"], made["singleUse"], "ttl" in made],
    [true, viewer, "Ann@Example.com", true, false],
  );
  assert.equal(Date.parse(String(made["expirationTime"])) - Date.parse(made.createTime), 3_600_000);
  const role = made["role"] as { name: string; capabilities: string[] };
  assert.deepEqual([role.name, role.capabilities.includes("CAP_REPO_LIST")], ["viewer", true]);

  const token = await platform.token();
  const shown = (await both(platform, METHODS.getGroupInvite, { uid: made.uid }, token)).body;
  assert.deepEqual(shown, { ...made, code: "", url: "" }, "the code is shown once");
  const other = await invite(group);
  const list = (query: string): Promise<Json> =>
    platform.ok("GET", `/iam/v2/groupInvites?uidp.children_of=${group}${query}`);
  assert.deepEqual((await list(""))["groupInvites"], [shown, { ...other, code: "", url: "" }]);
  assert.deepEqual((await list(`&key_id=${String(other["keyId"])}`))["groupInvites"], [
    { ...other, code: "", url: "" },
  ]);
  assert.equal((await list("&page_size=1&order_by=created_at desc".replace(" ", "%20"))).totalCount, "2");
  assert.deepEqual(
    (
      await both(
        platform,
        METHODS.listGroupInvites,
        { uidp: { childrenOf: group } },
        await platform.token(await newcomer()),
      )
    ).body["groupInvites"],
    [],
  );

  const changed = await platform.ok("PATCH", `/iam/v2/groupInvites/${made.uid}`, { email: "", singleUse: false });
  assert.deepEqual(changed, { ...shown, email: "", singleUse: false });
  for (const field of ["roleUid", "ttl", "code", "keyId", "expirationTime"]) {
    const fixed = await platform.call("PATCH", `/iam/v2/groupInvites/${made.uid}?updateMask=${field}`, {
      token,
      body: { roleUid: viewer, ttl: "1s" },
    });
    assert.deepEqual([fixed.status, blamed(fixed)], [400, ["updateMask"]], field);
  }
  assert.equal((await platform.call("DELETE", `/iam/v2/groupInvites/${made.uid}`, { token })).status, 200);
  assert.equal((await both(platform, METHODS.getGroupInvite, { uid: made.uid }, token)).status, 404);
});

test("an invalid invite is not created, and the error names every invalid field", async () => {
  const group = await newGroup();
  const token = await platform.token();
  const create = METHODS.createGroupInvite;
  const wrong = async (groupInvite: object): Promise<string[]> =>
    blamed(await both(platform, create, { parent: group, groupInvite }, token));
  assert.deepEqual(await wrong({ email: "ann" }), ["roleUid", "email", "ttl"]);
  for (const ttl of [{}, { seconds: -1n }, { seconds: 2_592_000n, nanos: 1_000_000 }, { seconds: 315_576_000_000n }]) {
    assert.deepEqual(await wrong({ roleUid: viewer, ttl }), ["ttl"]);
  }
  assert.deepEqual(await wrong({ roleUid: "no-uid", ttl: { seconds: 1n } }), ["roleUid"]);
  const elsewhere = await platform.ok("POST", `/iam/v2/roles/${await newGroup()}`, { name: "elsewhere" });
  assert.deepEqual(await wrong({ roleUid: elsewhere.uid, ttl: { seconds: 1n } }), ["roleUid"], "another group's role");
  assert.equal((await platform.ok("GET", `/iam/v2/groupInvites?uidp.children_of=${group}`)).totalCount, "0");
  // 30 days are allowed.
  await invite(group, { ttl: "2592000s" });
});

test("accepting an invite binds the role, once, and the next request has its rights", async () => {
  const group = await newGroup();
  const [ann, code] = [await newcomer(), codeOf(await invite(group))];
  const look = async (): Promise<number> =>
    (await platform.call("GET", `/iam/v2/groups/${group}`, { token: await platform.token(ann) })).status;
  assert.equal(await look(), 404);
  const first = await accept(code, ann);
  assert.equal(first.status, 200, first.text);
  const {
    identity,
    group: where,
    role,
  } = first.body as Json & Record<"identity" | "group" | "role", { uid: string; name: string }>;
  assert.deepEqual([identity.uid, where.uid, role.name], [ann, group, "viewer"]);
  assert.equal(await look(), 200);
  assert.deepEqual(
    (await both(platform, METHODS.acceptGroupInvite, { code }, await platform.token(ann))).body,
    first.body,
    "accepted again, by any handler",
  );
  assert.equal((await accept(code, await newcomer())).status, 200, "another may, for it is good more than once");
  assert.equal((await bindingsOn(group)).length, 2);

  // A binding deleted since does not come back by a code that is still valid.
  await platform.ok("DELETE", `/iam/v2/roleBindings/${first.body.uid}`);
  await refused(code, ann, [400, "BINDING_REMOVED"]);
  assert.equal(await look(), 404);
});

test("an identity that holds the role already keeps its binding", async () => {
  const group = await newGroup();
  const ann = await newcomer();
  const binding = await platform.bind(group, ann, viewer);
  assert.equal((await accept(codeOf(await invite(group)), ann)).body.uid, binding);
  assert.deepEqual(await bindingsOn(group), [binding]);
});

describe("a rejection says why, and changes nothing", () => {
  test("for an unknown, a revoked and an expired code", async () => {
    const group = await newGroup();
    const ann = await newcomer();
    const unknown = await refused("A".repeat(43), ann, [404, "INVITE_UNKNOWN"]);
    assert.equal(unknown.body.code, 5);
    const revoked = await invite(group);
    await platform.ok("DELETE", `/iam/v2/groupInvites/${revoked.uid}`);
    await refused(codeOf(revoked), ann, [400, "INVITE_REVOKED"]);
    const [short, late] = [await invite(group, { ttl: "60s" }), await invite(group, { ttl: "60s" })];
    const early = await accept(codeOf(short), await newcomer());
    await platform.ok("DELETE", `/iam/v2/groupInvites/${late.uid}`);
    platform.clock.offsetMs += 60_000;
    await refused(codeOf(short), ann, [400, "INVITE_EXPIRED"]);
    await refused(codeOf(late), ann, [404, "INVITE_UNKNOWN"]);
    assert.deepEqual(await bindingsOn(group), [early.body.uid], "whoever accepted in time keeps it");
    assert.deepEqual(blamed(await both(platform, METHODS.acceptGroupInvite, { code: "" }, await platform.token(ann))), [
      "code",
    ]);
  });

  test("for a code that was used", async () => {
    const group = await newGroup();
    const [ann, code] = [await newcomer(), codeOf(await invite(group, { singleUse: true }))];
    const { body } = await accept(code, ann);
    await refused(code, await newcomer(), [400, "INVITE_USED"]);
    assert.deepEqual((await accept(code, ann)).body, body, "the one who used it is answered as before");
    assert.deepEqual(await bindingsOn(group), [body.uid]);
  });

  test("for a code for another e-mail address, and for an address that is not verified", async () => {
    const group = await newGroup();
    const code = codeOf(await invite(group, { email: "Ann@Example.com" }));
    const [nobody, bob, ann, again] = [await newcomer(), await newcomer(), await newcomer(), await newcomer()];
    const { uid: provider } = await platform.ok("POST", `/iam/v2/identityProviders/${root}`, {
      name: "staff",
      oidc: { issuer: "https://login.example.com", clientId: "moorage" },
    });
    await platform.verifyEmail(bob, "bob@example.com", provider);
    // Providers and people write an address in any case.
    await platform.verifyEmail(ann, "ann@EXAMPLE.com", provider);
    await platform.verifyEmail(again, "ANN@example.com", provider);
    for (const identity of [nobody, bob]) {
      const answer = await refused(code, identity, [403, "INVITE_FOR_ANOTHER_EMAIL"]);
      assert.ok(!/ann@/i.test(answer.text), "the answer does not name the invited person");
    }
    assert.deepEqual(await bindingsOn(group), []);
    for (const identity of [ann, again]) assert.equal((await accept(code, identity)).status, 200);
  });

  test("for an identity of another group, and for a token that is narrowed", async () => {
    const [group, other] = [await newGroup(), await newGroup()];
    const code = codeOf(await invite(group));
    await refused(code, await platform.identity(other), [403, "INVITE_OUT_OF_REACH"]);
    assert.equal((await accept(code, await platform.identity(group))).status, 200, "one of the group itself may");
    for (const query of ["cap=CAP_REPO_LIST", `scopes=${group}`]) {
      const narrowed = String(
        (await platform.call("GET", `/sts/exchange?${query}`, { token: await platform.token() })).body["token"],
      );
      assert.equal(
        (await platform.call("POST", "/iam/v2/groupInvites:accept", { token: narrowed, body: { code } })).status,
        403,
        query,
      );
    }
    assert.equal((await bindingsOn(group)).length, 1);
  });
});

describe("a caller gives no rights that it does not hold", () => {
  let givers = 0;
  /** An identity with these capabilities on the group, and its binding. */
  async function giver(
    group: string,
    capabilities: string[],
  ): Promise<{ identity: string; binding: string; role: string }> {
    const role = (await platform.ok("POST", `/iam/v2/roles/${group}`, { name: `giver ${(givers += 1)}`, capabilities }))
      .uid;
    const identity = await newcomer();
    return { identity, role, binding: await platform.bind(group, identity, role) };
  }
  const GIVER = [
    "CAP_IAM_GROUPS_LIST",
    "CAP_IAM_GROUP_INVITES_CREATE",
    "CAP_IAM_GROUP_INVITES_UPDATE",
    "CAP_IAM_GROUP_INVITES_LIST",
    "CAP_IAM_ROLE_BINDINGS_CREATE",
    "CAP_REPO_LIST",
  ];
  const without = (gone: string): string[] => GIVER.filter((capability) => capability !== gone);
  const puller = async (group: string): Promise<string> =>
    (await platform.ok("POST", `/iam/v2/roles/${group}`, { name: "puller", capabilities: ["CAP_REPO_LIST"] })).uid;

  test("when it creates an invite, or sets the person it is for", async () => {
    const group = await newGroup();
    const ann = await platform.token((await giver(group, GIVER)).identity);
    const post = (roleUid: string, token: string): Promise<Answer> =>
      both(
        platform,
        METHODS.createGroupInvite,
        { parent: group, groupInvite: { roleUid, ttl: { seconds: 60n } } },
        token,
      );
    assert.match((await post(viewer, ann)).text, /only capabilities that the caller holds/);
    const own = await platform.call("POST", `/iam/v2/groupInvites/${group}`, {
      token: ann,
      body: { roleUid: await puller(group), ttl: "60s" },
    });
    assert.equal(own.status, 200, own.text);
    const narrow = await platform.token((await giver(group, without("CAP_IAM_ROLE_BINDINGS_CREATE"))).identity);
    assert.deepEqual((await post(String(own.body["roleUid"]), narrow)).body.details[0]?.metadata, {
      missing: "CAP_IAM_ROLE_BINDINGS_CREATE",
    });
    const owners = await invite(group);
    const request = { groupInvite: { uid: owners.uid, email: "friend@example.com" }, updateMask: { paths: ["email"] } };
    assert.equal((await both(platform, METHODS.updateGroupInvite, request, ann)).status, 403);
    assert.equal((await both(platform, METHODS.updateGroupInvite, request, narrow)).status, 403);
  });

  test("an invite is refused once its creator has lost its rights or was deleted", async () => {
    const group = await newGroup();
    const role = await puller(group);
    const losses: [string, (maker: Awaited<ReturnType<typeof giver>>) => Promise<unknown>][] = [
      [
        "the role it gives",
        ({ role: own }) => platform.ok("PATCH", `/iam/v2/roles/${own}`, { capabilities: without("CAP_REPO_LIST") }),
      ],
      [
        "the right to bind",
        ({ role: own }) =>
          platform.ok("PATCH", `/iam/v2/roles/${own}`, { capabilities: without("CAP_IAM_ROLE_BINDINGS_CREATE") }),
      ],
      ["everything", ({ binding }) => platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`)],
      ["itself", ({ identity }) => platform.ok("DELETE", `/iam/v2/identities/${identity}`)],
    ];
    for (const [what, lose] of losses) {
      const maker = await giver(group, GIVER);
      const made = await platform.call("POST", `/iam/v2/groupInvites/${group}`, {
        token: await platform.token(maker.identity),
        body: { roleUid: role, ttl: HOUR },
      });
      assert.equal(made.status, 200, made.text);
      const ann = await newcomer();
      await lose(maker);
      const before = await bindingsOn(group);
      await refused(codeOf(made.body), ann, [400, "INVITER_WITHOUT_RIGHTS"]);
      assert.deepEqual(await bindingsOn(group), before, what);
    }
  });

  test("an invite is refused once its role allows more than its creator holds", async () => {
    const group = await newGroup();
    const role = await puller(group);
    const { identity } = await giver(group, GIVER);
    const made = await platform.call("POST", `/iam/v2/groupInvites/${group}`, {
      token: await platform.token(identity),
      body: { roleUid: role, ttl: HOUR },
    });
    await platform.ok("PATCH", `/iam/v2/roles/${role}`, { capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"] });
    await refused(codeOf(made.body), await newcomer(), [400, "INVITER_WITHOUT_RIGHTS"]);
  });
});

test("of many concurrent callers who accept a single-use invite, one succeeds", async () => {
  for (let round = 0; round < 4; round += 1) {
    const group = await newGroup();
    const code = codeOf(await invite(group, { singleUse: true }));
    const people = await Promise.all(Array.from({ length: 8 }, newcomer));
    const answers = await Promise.all(people.map((identity) => accept(code, identity)));
    const winners = answers.filter(({ status }) => status === 200);
    assert.equal(winners.length, 1, JSON.stringify(answers.map(({ text }) => text)));
    for (const answer of answers)
      if (answer.status !== 200) assert.deepEqual(rejectionOf(answer), [400, "INVITE_USED"], answer.text);
    assert.deepEqual(await bindingsOn(group), [winners[0]?.body.uid]);
  }
});

test("one identity that accepts many times concurrently gets one binding", async () => {
  const group = await newGroup();
  const [ann, code] = [await newcomer(), codeOf(await invite(group, { singleUse: true }))];
  const answers = await Promise.all(Array.from({ length: 6 }, () => accept(code, ann)));
  assert.deepEqual([...new Set(answers.map(({ body }) => body.uid))], await bindingsOn(group));
});

test("the group and the role of an invite in use cannot be deleted", async () => {
  const group = await newGroup();
  const role = (await platform.ok("POST", `/iam/v2/roles/${root}`, { name: "invited" })).uid;
  const made = await invite(group, { roleUid: role });
  const token = await platform.token();
  const blockers = async (path: string): Promise<unknown> =>
    (await platform.call("DELETE", path, { token })).body.details.flatMap(({ violations = [] }) => violations);
  const [inGroup, ofRole] = [await blockers(`/iam/v2/groups/${group}`), await blockers(`/iam/v2/roles/${role}`)];
  assert.deepEqual(inGroup, [
    { type: "RESOURCE_NOT_EMPTY", subject: group, description: "the group still has invites: 1" },
  ]);
  assert.deepEqual(ofRole, [{ type: "RESOURCE_IN_USE", subject: role, description: "invites still give the role: 1" }]);
  await platform.ok("DELETE", `/iam/v2/groupInvites/${made.uid}`);
  for (const path of [`/iam/v2/groups/${group}`, `/iam/v2/roles/${role}`]) await platform.ok("DELETE", path);
});

test("a server without a mail server mails no invite, and says so before it makes one", async () => {
  const group = await newGroup();
  const answer = await platform.call("POST", `/iam/v2/groupInvites/${group}`, {
    token: await platform.token(),
    body: { roleUid: viewer, ttl: HOUR, mailTo: "ada@example.com" },
  });
  assert.equal(answer.status, 400, answer.text);
  assert.equal(
    answer.body.details.find(({ violations }) => violations !== undefined)?.violations?.[0]?.type,
    "NO_MAIL",
  );
  const left = await rows(platform.ok("GET", `/iam/v2/groupInvites?uidp.children_of=${group}`), "groupInvites");
  assert.deepEqual(left, []);
});
