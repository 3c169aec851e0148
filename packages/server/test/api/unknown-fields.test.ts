import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, type DescMethodUnary, type Message, toBinary } from "@bufbuild/protobuf";
import {
  ClaimMatchSchema,
  CreateIdentityRequestSchema,
  CreateRepoRequestSchema,
  ExchangeRequestSchema,
  GroupsService,
  IdentitiesService,
  IdentitySchema,
  IdentityProvidersService,
  IdentityProvider_OIDCSchema,
  ReposService,
  RepoSchema,
  RoleBindingsService,
  RolesService,
  RoleSchema,
  SecurityTokenService,
  SubscriptionsService,
  SubscriptionSchema,
  TagPolicySchema,
  TagsService,
  VulnerabilityGateSchema,
} from "@moorage/api";
import { Identities, IdentitySchema as V1IdentitySchema } from "@moorage/api/v1/iam";
import { blamed, type Json, type Platform, startPlatform } from "../support/platform.ts";

// A client may know fields that this server does not. Over JSON they are refused by name; in binary messages where it
// matters who may do what, by number.
let platform: Platform;
let token: string;
let group: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  token = await platform.token();
  group = (await platform.group(platform.organization)).uid;
});
after(() => platform.close());

const ISSUER = "https://issuer.example.com";

/** The message with a field of a newer version: a varint under this number. */
function withField<M extends Message>(message: M, no: number): M {
  message.$unknown = [{ no, wireType: 0, data: Uint8Array.of(1) }];
  return message;
}

async function refused(method: DescMethodUnary, request: object): Promise<string[]> {
  const { error } = await platform.grpc.call(method, request as Record<string, never>, token);
  const { code, details } = error as unknown as Json;
  assert.equal(code, 3, `${method.toString()}: ${JSON.stringify(error)}`);
  return blamed({ body: { details } });
}

/** An identity that tokens of an issuer assume. */
const assumed = (no?: number) => {
  const claimMatch = create(ClaimMatchSchema, {
    iss: { case: "issuer", value: ISSUER },
    sub: { case: "subject", value: "s" },
  });
  return create(IdentitySchema, {
    name: "assumed",
    relationship: { case: "claimMatch", value: no === undefined ? claimMatch : withField(claimMatch, no) },
  });
};

test("a field that the server lacks is refused where it would change who may do what", async () => {
  const oidc = withField(create(IdentityProvider_OIDCSchema, { issuer: ISSUER, clientId: "c" }), 99);
  const gate = withField(create(VulnerabilityGateSchema, {}), 99);
  const binding = { identityUid: platform.owner, roleUid: await platform.role("viewer") };
  const calls: [field: string, method: DescMethodUnary, request: object][] = [
    // As clients of v1 send it: service_principal is the number 12 there.
    [
      "12",
      Identities.method.create,
      { parentId: group, identity: withField(create(V1IdentitySchema, { name: "a" }), 12) },
    ],
    ["12", Identities.method.update, withField(create(V1IdentitySchema, { id: group, name: "a" }), 12)],
    [
      "24",
      IdentitiesService.method.createIdentity,
      { parent: group, identity: withField(create(IdentitySchema, { name: "a" }), 24) },
    ],
    ["claimMatch.9", IdentitiesService.method.createIdentity, { parent: group, identity: assumed(9) }],
    [
      "77",
      IdentitiesService.method.createIdentity,
      withField(create(CreateIdentityRequestSchema, { parent: group, identity: assumed() }), 77),
    ],
    ["7", RolesService.method.createRole, { parent: group, role: withField(create(RoleSchema, { name: "a" }), 7) }],
    [
      "oidc.99",
      IdentityProvidersService.method.createIdentityProvider,
      { parent: group, identityProvider: { name: "a", configuration: { case: "oidc", value: oidc } } },
    ],
    [
      "requests[0].9",
      RoleBindingsService.method.batchCreateRoleBindings,
      {
        parent: group,
        requests: [withField(create(RoleBindingsService.method.createRoleBinding.input, { roleBinding: binding }), 9)],
      },
    ],
    [
      "50",
      SubscriptionsService.method.createSubscription,
      { parent: group, subscription: withField(create(SubscriptionSchema, { sink: `${ISSUER}/in` }), 50) },
    ],
    [
      "tagPolicy.vulnerabilities.99",
      ReposService.method.createRepo,
      { parent: group, repo: { name: "a", tagPolicy: create(TagPolicySchema, { vulnerabilities: gate }) } },
    ],
    ["10", SecurityTokenService.method.exchange, withField(create(ExchangeRequestSchema, { aud: [platform.url] }), 10)],
  ];
  for (const [field, method, request] of calls)
    assert.deepEqual(await refused(method, request), [field], method.toString());
  for (const path of ["/iam/v2/identities", "/iam/v2/roles", "/registry/v2/repos", "/events/v2/subscriptions"])
    assert.equal((await platform.ok("GET", `${path}?uidp.children_of=${group}`)).totalCount, "0", path);
});

test("over gRPC-Web and Connect too", async () => {
  const request = withField(create(CreateIdentityRequestSchema, { parent: group, identity: assumed() }), 77);
  const bytes = toBinary(CreateIdentityRequestSchema, request);
  const path = "/moorage.iam.v2.IdentitiesService/CreateIdentity";
  const headers = (type: string) => ({ "content-type": type, authorization: `Bearer ${token}` });
  const connect = await fetch(`${platform.url}${path}`, {
    method: "POST",
    headers: headers("application/proto"),
    body: bytes,
  });
  assert.deepEqual([connect.status, ((await connect.json()) as Json).code], [400, "invalid_argument"]);
  const body = new Uint8Array([0, 0, 0, 0, bytes.length, ...bytes]);
  const web = await fetch(`${platform.url}${path}`, {
    method: "POST",
    headers: headers("application/grpc-web+proto"),
    body,
  });
  assert.match(`${web.headers.get("grpc-status")} ${await web.text()}`, /^3 |grpc-status: 3/);
});

test("elsewhere, in numbers that are reserved, and outside of an update's mask it is passed over", async () => {
  const made = async (method: DescMethodUnary, request: object): Promise<Json> => {
    const { message, error } = await platform.grpc.call(method, request as Record<string, never>, token);
    assert.ok(message, `${method.toString()}: ${JSON.stringify(error)}`);
    return message as unknown as Json;
  };
  await made(GroupsService.method.createGroup, {
    parent: group,
    group: withField(create(GroupsService.method.createGroup.output, { name: "abc" }), 99),
  });
  const { uid: repo } = await made(
    ReposService.method.createRepo,
    withField(
      create(CreateRepoRequestSchema, { parent: group, repo: withField(create(RepoSchema, { name: "a" }), 99) }),
      99,
    ),
  );
  await made(
    TagsService.method.listTags,
    withField(create(TagsService.method.listTags.input, { uidp: { childrenOf: repo } }), 99),
  );
  await made(
    IdentitiesService.method.listIdentities,
    withField(create(IdentitiesService.method.listIdentities.input, {}), 99),
  );
  const { uid } = await made(IdentitiesService.method.createIdentity, {
    parent: group,
    identity: withField(assumed(), 7),
  });
  const { updateIdentity } = IdentitiesService.method;
  const changed = (paths: string[], no: number) => ({
    identity: withField(create(IdentitySchema, { ...assumed(no), uid, description: "new" }), 24),
    updateMask: { paths },
  });
  assert.equal((await made(updateIdentity, changed(["description"], 9)))["description"], "new");
  assert.equal((await made(updateIdentity, changed(["claim_match.issuer"], 9)))["uid"], uid);
  assert.deepEqual(await refused(updateIdentity, changed(["claimMatch"], 9)), ["claimMatch.9"]);
  assert.deepEqual(await refused(updateIdentity, changed([], 9)), ["24", "claimMatch.9"]);
  assert.deepEqual(await refused(updateIdentity, changed(["*"], 9)), ["24", "claimMatch.9"]);
});
