import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type DescMethodUnary, getOption, type Message } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import * as api from "@moorage/api";
import { type Answer, DIGEST, type Json } from "../platform.ts";
import { requestsOf } from "../requests.ts";
import { type EventFixture, parentOf, type EmittedEvent, typesOf } from "./events.ts";
import { restCallOf } from "../rest-call.ts";

/** Tests that the methods of the API emit events with their answers. */
export function apiEmits({ platform, issuer, actor, emitted, ask }: EventFixture): void {
  const methods = Object.values(api)
    .flatMap((value) => (typeof value === "object" && "kind" in value && value.kind === "service" ? value.methods : []))
    .filter(
      (method): method is DescMethodUnary => method.methodKind === "unary" && getOption(method, api.event) !== "",
    );
  // These emit more than their answer, or something else: they have tests of their own.
  const TESTED_ELSEWHERE = new Set([
    "CreateTag",
    "DeleteTag",
    "DeleteRepo",
    "PromoteTags",
    "RollbackTags",
    "ImportMoves",
    "UpdateRepoReadme",
    "AcceptGroupInvite",
    "TestSubscription",
    "CreateFeed",
    "UpdateFeed",
    "DeleteFeed",
    "CreatePersonalToken",
    "DeletePersonalToken",
  ]);
  const SECRET_FIELDS = ["code", "secret"];
  let requests: ReturnType<typeof requestsOf>;
  before(async () => {
    const { uid: group } = await platform.group(platform.organization, { name: "asked" });
    const { uid: repo } = await platform.repo(group, { name: "asked" });
    requests = requestsOf(platform, { group, repo, digest: DIGEST });
  });

  /** The nearest group at or above a resource, among the given groups; empty without one. */
  async function holder(uid: string, known: ReadonlySet<string>): Promise<string> {
    for (let at = uid; at !== ""; at = parentOf(at)) if (known.has(at)) return at;
    return "";
  }
  const groups = async (): Promise<string[]> =>
    (await platform.reader.selectFrom("groups").select("uid").execute()).map(({ uid }) => uid);

  for (const method of methods.filter(({ name }) => !TESTED_ELSEWHERE.has(name))) {
    test(method.name, async () => {
      const request = await (requests.get(`${method.parent.typeName}.${method.name}`) as () => Promise<Message>)();
      const rest = restCallOf(method, request);
      assert.ok(rest);
      const before = await groups();
      let answer: Answer | undefined;
      const events = await emitted(
        async () => (answer = await ask(rest.verb, rest.path, { body: rest.body, token: await platform.token() })),
      );
      assert.ok(answer);
      // The subscription was active already.
      if (method.name === "ResumeSubscription") return assert.deepEqual(events, []);
      assert.equal(events.length, 1, JSON.stringify(events));
      const [event] = events as [EmittedEvent];
      const body = { ...answer.body } as Record<string, unknown>;
      for (const name of SECRET_FIELDS) delete body[name];
      // An invite's link holds its code.
      if (method.name.endsWith("GroupInvite")) delete body["url"];
      if (method.output.typeName === EmptySchema.typeName) body["uid"] = (request as Message & { uid: string }).uid;
      // The event of a batch belongs to its parent; accepting terms answers the group.
      const subject = String(body["uid"] ?? body["group"] ?? (request as Message & { parent: string }).parent);
      const group = await holder(subject, new Set([...before, ...(await groups())]));
      assert.notEqual(group, "");
      assert.deepEqual(event, { type: getOption(method, api.event), subject, group, target: "", actor, body });
    });
  }

  test("a personal token emits events where its person is at home, without the token", async () => {
    let made: Json | undefined;
    const owner = await platform.token();
    const events = await emitted(async () => {
      const answer = await ask("POST", "/iam/v2/personalTokens", { body: { name: "laptop" }, token: owner });
      made = answer.body;
      await platform.ok("DELETE", `/iam/v2/personalTokens/${made.uid}`);
    });
    const { token, ...shown } = made as Json & { token: string };
    assert.ok(!JSON.stringify(events).includes(token));
    const here = events.filter(({ group }) => group === platform.organization);
    const common = { subject: shown.uid, group: platform.organization, target: "", actor };
    assert.deepEqual(here, [
      { type: "api.iam.personaltokens.created.v1", ...common, body: shown },
      { type: "api.iam.personaltokens.deleted.v1", ...common, body: { uid: shown.uid } },
    ]);
  });

  test("what becomes of a feed is an event of the first organization", async () => {
    const feeds = "/operations/v2/feeds";
    const events = await emitted(async () => {
      await platform.ok("POST", feeds, { name: "noted", format: "osv", licence: "MIT" });
      await platform.ok("PATCH", `${feeds}/noted`, { interval: "86400s" });
      await platform.ok("DELETE", `${feeds}/noted`);
    });
    const { organization } = platform;
    const body = { name: "noted", format: "osv", address: "", licence: "MIT", interval: "86400s" };
    assert.deepEqual(
      events,
      ["created", "updated", "deleted"].map((what) => ({
        type: `feed.${what}.v1`,
        subject: organization,
        group: organization,
        target: "",
        actor,
        body: what === "created" ? { ...body, interval: "21600s" } : body,
      })),
    );
  });

  test("a change of a readme emits an event of its repo; a test event goes to its subscription alone", async () => {
    const { uid: repo } = await platform.repo(platform.organization, { name: "read" });
    const events = await emitted(() =>
      platform.ok("PATCH", `/registry/v2/repos/${repo}/readme`, { content: "# Read me" }),
    );
    const type = "api.platform.registry.repo.updated.v1";
    const body = await platform.ok("GET", `/registry/v2/repos/${repo}`);
    assert.deepEqual(events, [{ type, subject: repo, group: platform.organization, target: "", actor, body }]);
    assert.equal(events[0]?.body["readme"], "# Read me");
    const { uid: group } = await platform.group(platform.organization);
    const { uid } = await platform.subscription(group);
    const [event] = await emitted(() => platform.ok("POST", `/events/v2/subscriptions/${uid}:test`, {}));
    assert.deepEqual(
      [event?.type, event?.subject, event?.group, event?.target, event?.body["subscription"]],
      ["events.test.v1", uid, group, uid, uid],
    );
  });

  test("a batch over several groups emits to each group its own events", async () => {
    const [left, right] = [await platform.group(platform.organization), await platform.group(platform.organization)];
    const viewer = await platform.role("viewer");
    const uids = [await platform.identity(left.uid), await platform.identity(right.uid)];
    const requests = [left.uid, right.uid].map((parent, at) => ({
      parent,
      roleBinding: { identityUid: uids[at], roleUid: viewer },
    }));
    const events = await emitted(() => platform.ok("POST", "/iam/v2/roleBindings:batchCreate", { requests }));
    const identities = ({ body }: EmittedEvent) =>
      (body["roleBindings"] as { identity: { uid: string } }[]).map(({ identity }) => identity.uid);
    assert.deepEqual(
      events.map((event) => [event.type, event.subject, event.group, identities(event)]),
      [left, right].map(({ uid }, at) => ["api.iam.rolebindings.created.batch.v1", uid, uid, [uids[at]]]),
    );
  });

  test("cascading deletions emit events in every group they touch; a new organization emits its owner's binding", async () => {
    const viewer = await platform.role("viewer");
    const { uid: group } = await platform.group(platform.organization);
    const identity = await platform.identity(platform.organization);
    const binding = await platform.bind(group, identity, viewer);
    const gone = await emitted(() => platform.ok("DELETE", `/iam/v2/identities/${identity}`));
    assert.deepEqual(
      gone.map(({ type, subject, group: place, body }) => [type, subject, place, body]),
      [
        ["api.iam.rolebindings.deleted.v1", binding, group, { uid: binding }],
        ["api.iam.identity.deleted.v1", identity, platform.organization, { uid: identity }],
      ],
    );
    const oidc = { issuer: issuer.url, clientId: "a" };
    const { uid: provider } = await platform.ok("POST", `/iam/v2/identityProviders/${platform.organization}`, {
      name: "scoped",
      oidc,
    });
    const mapping = await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${provider}`, {
      externalGroupId: "x",
      roleUid: viewer,
      scope: group,
    });
    const emptied = await emitted(() => platform.ok("DELETE", `/iam/v2/groups/${group}`));
    assert.deepEqual(
      emptied.map(({ type, subject, group: place }) => [type, subject, place]),
      [
        ["api.iam.external_group_role_mappings.deleted.v1", mapping.uid, platform.organization],
        ["api.iam.group.deleted.v1", group, group],
      ],
    );
    const made = await emitted(() => platform.ok("POST", "/iam/v2/groups", { name: "another" }));
    assert.deepEqual(typesOf(made), ["api.iam.rolebindings.created.v1", "api.iam.group.created.v1"]);
    const [bound, organization] = made as [EmittedEvent, EmittedEvent];
    assert.deepEqual(
      [bound.group, (bound.body["identity"] as { uid: string }).uid],
      [organization.subject, platform.owner],
    );
  });

  test("the actor of an identity assumed by an external token has that token's claims", async () => {
    const { uid: group } = await platform.group(platform.organization);
    const claimMatch = { issuer: issuer.url, subject: "job", audience: platform.url };
    const { uid: identity } = await platform.ok("POST", `/iam/v2/identities/${group}`, { name: "job", claimMatch });
    await platform.bind(group, identity, await platform.role("editor"));
    const seconds = Math.floor(Date.now() / 1000);
    const external = await issuer.sign({
      iss: issuer.url,
      sub: "job",
      aud: platform.url,
      iat: seconds,
      exp: seconds + 600,
    });
    const { body } = await platform.call("POST", "/sts/exchange", { token: external });
    const [event] = await emitted(() =>
      ask("POST", `/registry/v2/repos/${group}`, { token: String(body["token"]), body: { name: "app" } }),
    );
    assert.equal(event?.actor.subject, identity);
    assert.deepEqual([event?.actor.act["iss"], event?.actor.act["sub"]], [issuer.url, "job"]);
  });
}
