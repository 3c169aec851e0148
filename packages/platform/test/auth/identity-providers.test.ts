import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { IdentityProvider_OIDC_CorrelationRule as CorrelationRule, IdentityProvidersService } from "@moorage/api";
import { createSecrets } from "../../../kernel/src/lib/secrets.ts";
import { loadConfig } from "../../../server/src/index.ts";
import { secretKeysOf } from "../../../server/src/installation/secret-keys.ts";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { databaseEnv, openTestStore } from "../../../server/test/support/database.ts";
import { startInstallation } from "../../../server/test/support/installation.ts";
import {
  type Answer,
  blamed,
  type Json,
  type Platform,
  rows,
  startPlatform,
} from "../../../server/test/support/platform.ts";

// Who may register an organization's identity provider, and what the answers reveal of it. Source: docs/contract.md,
// "Resources" and "Capabilities and roles".
let platform: Platform;
let root: string;
before(async () => {
  platform = await startPlatform();
  root = platform.organization;
});
after(() => platform.close());

const METHODS = IdentityProvidersService.method;
const PATH = "/iam/v2/identityProviders";
const OIDC = { issuer: "https://login.example.com", clientId: "moorage" };
const newGroup = async (): Promise<string> => (await platform.group(root)).uid;
const provider = (group: string, fields: object = {}): Promise<Json> =>
  platform.ok("POST", `${PATH}/${group}`, { name: "login", oidc: OIDC, ...fields });
const roleOf = async (group: string, ...capabilities: string[]): Promise<string> =>
  (await platform.ok("POST", `/iam/v2/roles/${group}`, { name: `role ${capabilities.length}`, capabilities })).uid;
const violations = ({ body }: Answer): [string, string][] =>
  body.details.flatMap((detail) => detail.violations ?? []).map(({ type, description }) => [type, description]);
const missing = ({ body }: Answer): string | undefined =>
  body.details.find(({ metadata }) => metadata !== undefined)?.metadata?.["missing"];

test("a provider can be created, read, updated and deleted", async () => {
  const group = await newGroup();
  const token = await platform.token();
  const viewer = await platform.role("viewer");
  const made = await provider(group, {
    description: "ours",
    defaultRole: viewer,
    oidc: {
      ...OIDC,
      clientSecret: "s3cret",
      additionalScopes: ["groups", "email"],
      groupsClaim: "https://example.com/groups",
      correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
      pkceEnabled: true,
    },
  });
  assert.ok(made.uid.startsWith(`${group}/`));
  const { uid, createTime, updateTime } = made;
  assert.deepEqual(made, {
    uid,
    name: "login",
    description: "ours",
    createTime,
    updateTime,
    defaultRole: viewer,
    redirectUri: `${platform.url}/oauth/callback/${uid}`,
    sharedCallback: false,
    oidc: {
      ...OIDC,
      additionalScopes: ["groups", "email"],
      groupsClaim: "https://example.com/groups",
      correlationRule: "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID",
      pkceEnabled: true,
    },
  });
  assert.deepEqual((await both(platform, METHODS.getIdentityProvider, { uid }, token)).body, made);
  const other = await provider(group, { name: "another" });
  const list = async (request: object) =>
    rows((await both(platform, METHODS.listIdentityProviders, request, token)).body, "identityProviders");
  assert.deepEqual(await list({ uidp: { childrenOf: group } }), [other, made]);
  assert.deepEqual(await list({ uidp: { descendantsOf: group }, name: "login" }), [made]);
  assert.deepEqual(
    (await both(platform, METHODS.listIdentityProviders, {}, await platform.token(await platform.identity(root)))).body[
      "identityProviders"
    ],
    [],
  );

  const patch = (mask: string, body: object): Promise<Json> => platform.ok("PATCH", `${PATH}/${uid}${mask}`, body);
  const changed = await patch("?updateMask=oidc.groupsClaim,oidc.pkce_enabled", {
    description: "unread",
    oidc: { groupsClaim: "roles", clientId: "unread" },
  });
  assert.deepEqual(changed, {
    ...made,
    updateTime: changed.updateTime,
    oidc: { ...(made["oidc"] as object), groupsClaim: "roles", pkceEnabled: false },
  });
  assert.equal((await patch("", { description: "" })).description, "");
  const { message } = await platform.grpc.call(
    METHODS.updateIdentityProvider,
    {
      identityProvider: {
        uid,
        description: "again",
        configuration: { case: "oidc", value: { correlationRule: CorrelationRule.SUB_EQUALS_EXTERNAL_ID } },
      },
      updateMask: { paths: ["description", "oidc.correlation_rule"] },
    },
    token,
  );
  const oidc = message?.configuration.case === "oidc" ? message.configuration.value : undefined;
  assert.deepEqual(
    [message?.description, oidc?.correlationRule, oidc?.clientId, oidc?.clientSecret],
    ["again", 1, "moorage", ""],
  );
  const whole = await patch("?updateMask=*", { name: "renamed", oidc: OIDC });
  assert.deepEqual(
    [whole.name, whole.description, whole["defaultRole"], (whole["oidc"] as Json)["additionalScopes"]],
    ["renamed", "", "", []],
  );
  assert.equal((await platform.call("DELETE", `${PATH}/${uid}`, { token })).status, 200);
  assert.equal((await both(platform, METHODS.getIdentityProvider, { uid }, token)).status, 404);
});

test("an invalid provider is not created, and the error names every invalid field", async () => {
  const group = await newGroup();
  const token = await platform.token();
  const wrong = async (fields: object): Promise<string[]> =>
    blamed(await platform.call("POST", `${PATH}/${group}`, { token, body: fields }));
  assert.deepEqual(await wrong({}), ["name", "oidc"]);
  assert.deepEqual(await wrong({ name: "Ours!", oidc: {} }), ["name", "oidc.issuer", "oidc.clientId"]);
  for (const issuer of [
    "login.example.com",
    "ftp://login.example.com",
    "https://ann@login.example.com",
    "https://login.example.com?x",
    "https://login.example.com/#x",
  ]) {
    assert.deepEqual(await wrong({ name: "login", oidc: { ...OIDC, issuer } }), ["oidc.issuer"], issuer);
  }
  assert.deepEqual(await wrong({ name: "login", oidc: { ...OIDC, additionalScopes: ["fine", "two words", ""] } }), [
    "oidc.additionalScopes[1]",
    "oidc.additionalScopes[2]",
  ]);
  const numbered = await platform.grpc.call(
    METHODS.createIdentityProvider,
    {
      parent: group,
      identityProvider: {
        name: "login",
        configuration: { case: "oidc", value: { ...OIDC, correlationRule: 7 as CorrelationRule } },
      },
    },
    token,
  );
  assert.match(JSON.stringify(numbered.error), /oidc\.correlationRule/);
  const elsewhere = await roleOf(await newGroup());
  assert.deepEqual(
    await wrong({ name: "login", defaultRole: elsewhere, oidc: OIDC }),
    ["defaultRole"],
    "another group's role",
  );
  assert.deepEqual(await rows(platform.ok("GET", `${PATH}?uidp.children_of=${group}`), "identityProviders"), []);

  const made = await provider(group);
  const second = await provider(group, { name: "second" });
  const taken = await platform.call("POST", `${PATH}/${group}`, { token, body: { name: "login", oidc: OIDC } });
  const renamed = await platform.call("PATCH", `${PATH}/${second.uid}`, { token, body: { name: "login" } });
  assert.deepEqual([taken.status, renamed.status], [409, 409]);
  for (const field of ["uid", "createTime", "nothing", "oidc.nothing"]) {
    assert.deepEqual(
      blamed(await platform.call("PATCH", `${PATH}/${made.uid}?updateMask=${field}`, { token, body: {} })),
      ["updateMask"],
      field,
    );
  }
  assert.deepEqual(blamed(await platform.call("PATCH", `${PATH}/${made.uid}?updateMask=oidc`, { token, body: {} })), [
    "oidc",
  ]);
  await provider(await newGroup(), { name: "login" });
});

test("the client secret is encrypted, in no answer and no log line, and sent to no other issuer or for another client", async (t) => {
  const server = await startInstallation(t);
  const { store, close } = await openTestStore(server.dataDir);
  t.after(close);
  const secrets = createSecrets(
    await secretKeysOf(loadConfig({ MOORAGE_DATA_DIR: server.dataDir, ...(await databaseEnv(server.dataDir)) }), store),
  );
  const answers: string[] = [];
  const ask = async (method: string, target: string, json?: unknown): Promise<string> => {
    const answer = await server.ask(method, target, { token: server.platform, json });
    assert.equal(answer.status, 200, answer.text);
    answers.push(answer.text);
    return answer.json?.uid;
  };
  const uid = await ask("POST", `${PATH}/${server.bootstrap.organization.uid}`, {
    name: "login",
    oidc: { ...OIDC, clientSecret: "first-s3cret" },
  });
  const kept = async (): Promise<string> => {
    const row = await store.reader
      .selectFrom("identity_providers")
      .selectAll()
      .where("uid", "=", uid)
      .executeTakeFirstOrThrow();
    assert.doesNotMatch(JSON.stringify(row), /s3cret/);
    return row.client_secret === "" ? "" : secrets.open(row.client_secret, `identity_provider:${uid}`);
  };
  const patch = (mask: string, oidc: object): Promise<string> => ask("PATCH", `${PATH}/${uid}${mask}`, { oidc });
  assert.equal(await kept(), "first-s3cret");
  await ask("PATCH", `${PATH}/${uid}`, { description: "new" });
  await patch("", { ...OIDC, groupsClaim: "groups" });
  assert.equal(await kept(), "first-s3cret", "an update that does not name it keeps it");
  await patch("?updateMask=oidc.clientSecret", { clientSecret: "second-s3cret" });
  assert.equal(await kept(), "second-s3cret");
  await patch("?updateMask=oidc.clientId", { clientId: "another" });
  assert.equal(await kept(), "", "another client");
  await patch("", { ...OIDC, clientSecret: "third-s3cret" });
  assert.equal(await kept(), "third-s3cret", "given anew");
  await patch("?updateMask=oidc.issuer", { issuer: "https://thief.example.com" });
  assert.equal(await kept(), "", "another issuer");
  await patch("?updateMask=oidc.client_secret", { clientSecret: "fourth-s3cret" });
  await patch("?updateMask=oidc.client_secret", {});
  assert.equal(await kept(), "", "named, and none");
  const wrong = await server.ask("PATCH", `${PATH}/${uid}`, {
    token: server.platform,
    json: { oidc: { issuer: "", clientSecret: "fifth-s3cret" } },
  });
  assert.equal(wrong.status, 400);
  await ask("GET", PATH);
  assert.doesNotMatch([...answers, wrong.text, ...server.lines].join("\n"), /s3cret|clientSecret/);
});

test("with a new secret key the client secret is encrypted again, and only the new key decrypts it", async (t) => {
  const [old, young] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const first = await startInstallation(t, { MOORAGE_SECRET_KEY: old });
  const made = await first.api("POST", `${PATH}/${first.bootstrap.organization.uid}`, {
    name: "login",
    oidc: { ...OIDC, clientSecret: "s3cret" },
  });
  await first.close();
  await (await startInstallation(t, { MOORAGE_SECRET_KEY: `${young},${old}` }, first.dataDir)).close();
  const { store, close } = await openTestStore(first.dataDir);
  t.after(close);
  const row = await store.reader.selectFrom("identity_providers").select("client_secret").executeTakeFirstOrThrow();
  assert.equal(
    createSecrets([Buffer.from(young, "hex")]).open(row.client_secret, `identity_provider:${made.uid}`),
    "s3cret",
  );
});

describe("a caller gives no rights through a provider that it does not hold", () => {
  const MANAGE = ["CREATE", "UPDATE", "LIST", "DELETE"].map((each) => `CAP_IAM_IDENTITY_PROVIDERS_${each}`);
  /** An identity that may do everything with providers of the group, and holds otherwise only what is given. */
  async function manager(group: string, ...more: string[]): Promise<string> {
    const uid = await platform.identity(group);
    await platform.bind(group, uid, await roleOf(group, ...MANAGE, ...more));
    return platform.token(uid);
  }

  test("creating or changing a provider needs the right to bind roles", async () => {
    const group = await newGroup();
    const token = await manager(group, "CAP_IAM_GROUPS_LIST");
    const made = await provider(group);
    const refused = [
      await both(
        platform,
        METHODS.createIdentityProvider,
        { parent: group, identityProvider: { name: "mine", configuration: { case: "oidc", value: OIDC } } },
        token,
      ),
      await both(
        platform,
        METHODS.updateIdentityProvider,
        { identityProvider: { uid: made.uid, description: "mine" }, updateMask: { paths: ["description"] } },
        token,
      ),
    ];
    for (const answer of refused)
      assert.deepEqual([answer.status, missing(answer)], [403, "CAP_IAM_ROLE_BINDINGS_CREATE"]);
  });

  test("setting a default role needs all of its capabilities, on create and on update", async () => {
    const group = await newGroup();
    const token = await manager(group, "CAP_IAM_ROLE_BINDINGS_CREATE");
    const small = await roleOf(group, "CAP_IAM_IDENTITY_PROVIDERS_LIST");
    const large = await roleOf(group, "CAP_IAM_IDENTITY_PROVIDERS_LIST", "CAP_REPO_LIST");
    const make = (defaultRole: string) =>
      platform.call("POST", `${PATH}/${group}`, { token, body: { name: "mine", defaultRole, oidc: OIDC } });
    const refused = await make(large);
    assert.deepEqual([refused.status, missing(refused)], [403, "CAP_REPO_LIST"]);
    const made = await make(small);
    assert.equal(made.status, 200, made.text);
    const change = (fields: object) => platform.call("PATCH", `${PATH}/${made.body.uid}`, { token, body: fields });
    assert.equal((await change({ defaultRole: large })).status, 403);
    assert.equal((await platform.ok("GET", `${PATH}/${made.body.uid}`))["defaultRole"], small, "nothing was changed");
    await platform.ok("PATCH", `${PATH}/${made.body.uid}`, { defaultRole: large });
    assert.equal((await change({ description: "still mine to describe" })).status, 200);
    for (const changed of [
      { issuer: "https://thief.example.com" },
      { clientId: "thief" },
      { groupsClaim: "aud" },
      { correlationRule: 2 },
    ]) {
      const oidc = { ...OIDC, ...changed };
      const taken = await change({ oidc });
      assert.deepEqual([taken.status, missing(taken)], [403, "CAP_REPO_LIST"], JSON.stringify(oidc));
    }
    assert.equal((await change({ defaultRole: "" })).status, 200);
    assert.equal((await change({ oidc: { ...OIDC, clientId: "another" } })).status, 200, "it gives nothing now");
  });

  test("deleting a provider needs the rights that changing its issuer needs", async () => {
    const group = await newGroup();
    const token = await manager(group, "CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_IDENTITY_PROVIDERS_DELETE");
    const remove = (uid: string) => platform.call("DELETE", `${PATH}/${uid}`, { token });
    const large = await roleOf(group, "CAP_IAM_IDENTITY_PROVIDERS_LIST", "CAP_REPO_LIST");
    const given = await platform.ok("POST", `${PATH}/${group}`, { name: "given", defaultRole: large, oidc: OIDC });
    const refused = await remove(given.uid);
    assert.deepEqual([refused.status, missing(refused)], [403, "CAP_REPO_LIST"]);

    const plain = await platform.ok("POST", `${PATH}/${group}`, { name: "plain", oidc: OIDC });
    const person = await platform.identity(group);
    await platform.bind(group, person, large);
    await platform.transact(async (tx) => {
      await tx.updateTable("identities").set({ provider: plain.uid }).where("uid", "=", person).execute();
    });
    const people = await remove(plain.uid);
    assert.deepEqual([people.status, missing(people)], [403, "CAP_REPO_LIST"], "its people hold more than the caller");
    await platform.ok("GET", `${PATH}/${plain.uid}`);

    const harmless = await platform.ok("POST", `${PATH}/${group}`, { name: "harmless", oidc: OIDC });
    assert.equal((await remove(harmless.uid)).status, 200);
    for (const { uid } of [given, plain]) await platform.ok("DELETE", `${PATH}/${uid}`);
  });

  test("the correlation rule stays as it is once people have signed in", async () => {
    const group = await newGroup();
    const made = await platform.ok("POST", `${PATH}/${group}`, { name: "login", oidc: OIDC });
    const rule = async (correlationRule: string): Promise<Answer> =>
      platform.call("PATCH", `${PATH}/${made.uid}?updateMask=oidc.correlationRule`, {
        token: await platform.token(),
        body: { oidc: { correlationRule } },
      });
    const [bySub, byOid] = ["CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID", "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID"];
    assert.equal((await rule(byOid)).status, 200);
    assert.equal((await rule("CORRELATION_RULE_UNSPECIFIED")).status, 200);
    const person = await platform.identity(group);
    await platform.transact(async (tx) => {
      await tx.updateTable("identities").set({ provider: made.uid }).where("uid", "=", person).execute();
    });
    const refused = await rule(byOid);
    assert.deepEqual([refused.status, refused.body.code], [400, 9], refused.text);
    const [violation] = refused.body.details.flatMap(({ violations = [] }) => violations);
    assert.deepEqual([violation?.type, violation?.subject], ["RESOURCE_IN_USE", made.uid]);
    assert.equal((await rule(bySub)).status, 200, "the same rule by its name");
    await platform.ok("DELETE", `/iam/v2/identities/${person}`);
    assert.equal((await rule(byOid)).status, 200);
  });

  test("changing the issuer or the client needs the rights that the mappings give", async () => {
    const group = await newGroup();
    const token = await manager(group, "CAP_IAM_ROLE_BINDINGS_CREATE");
    const made = await provider(group);
    await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${made.uid}`, {
      externalGroupId: "admins",
      roleUid: await platform.role("owner"),
      scope: group,
    });
    for (const oidc of [
      { ...OIDC, issuer: "https://thief.example.com" },
      { ...OIDC, clientId: "thief" },
    ]) {
      assert.equal((await platform.call("PATCH", `${PATH}/${made.uid}`, { token, body: { oidc } })).status, 403);
    }
    await platform.ok("PATCH", `${PATH}/${made.uid}`, { oidc: { ...OIDC, clientId: "ours" } });
  });
});

test("neither a provider in use nor the role it refers to can be deleted", async () => {
  const group = await newGroup();
  const token = await platform.token();
  const role = await roleOf(group, "CAP_REPO_LIST");
  const made = await provider(group, { defaultRole: role });
  const remove = (path: string) => platform.call("DELETE", path, { token });
  assert.deepEqual(violations(await remove(`/iam/v2/roles/${role}`)), [
    ["RESOURCE_IN_USE", "identity providers still have the role as their default: 1"],
  ]);
  const mapping = await platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${made.uid}`, {
    externalGroupId: "g",
    roleUid: role,
    scope: group,
  });
  assert.deepEqual(
    violations(await remove(`/iam/v2/roles/${role}`)).map(([, words]) => words),
    ["mappings still give the role: 1", "identity providers still have the role as their default: 1"],
  );
  assert.deepEqual(violations(await remove(`${PATH}/${made.uid}`)), [
    ["RESOURCE_NOT_EMPTY", "the identity provider still has mappings: 1"],
  ]);
  assert.deepEqual(
    violations(await remove(`/iam/v2/groups/${group}`)).map(([, words]) => words),
    ["the group still has custom roles: 1", "the group still has identity providers: 1"],
  );
  for (const path of [
    `/iam/v2/externalGroupRoleMappings/${mapping.uid}`,
    `${PATH}/${made.uid}`,
    `/iam/v2/roles/${role}`,
    `/iam/v2/groups/${group}`,
  ]) {
    assert.equal((await remove(path)).status, 200, path);
  }
});
