import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import {
  AccountAssociationsService,
  DeliveriesService,
  GroupInvitesService,
  GroupsService,
  IdentitiesService,
  IdentityProvidersService,
  ReposService,
  RolesService,
  SubscriptionsService,
  TagsService,
} from "@moorage/api";
import { both } from "../support/rest-and-grpc.ts";
import { blamed, type Json, type Platform, startPlatform } from "../support/platform.ts";

// Values that a message in binary can hold and no JSON: gRPC refuses them as REST does, and stores nothing.
let platform: Platform;
let token: string;
let group: string;
let repo: string;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
  token = await platform.token();
  group = (await platform.group(platform.organization)).uid;
  repo = (await platform.repo(group)).uid;
});
after(() => platform.close());

test("a number that no value of the enum has is refused over gRPC as over REST", async () => {
  const oidc = { issuer: "https://issuer.example.com", clientId: "c", correlationRule: 9 };
  const calls: [string, DescMethodUnary, object][] = [
    ["kind", GroupsService.method.createGroup, { parent: group, group: { name: "abc", kind: 99 } }],
    ["kind", GroupsService.method.updateGroup, { group: { uid: group, kind: -1 }, updateMask: { paths: ["kind"] } }],
    ["catalogTier", ReposService.method.createRepo, { parent: group, repo: { name: "a", catalogTier: 99 } }],
    [
      "capabilities[1]",
      RolesService.method.createRole,
      { parent: group, role: { name: "a", capabilities: [101, 99999] } },
    ],
    [
      "oidc.correlationRule",
      IdentityProvidersService.method.createIdentityProvider,
      {
        parent: platform.organization,
        identityProvider: { name: "a", configuration: { case: "oidc", value: oidc } },
      },
    ],
    [
      "servicePrincipal",
      IdentitiesService.method.createIdentity,
      { parent: group, identity: { name: "a", relationship: { case: "servicePrincipal", value: 5 } } },
    ],
    ["relationship_type", IdentitiesService.method.listIdentities, { relationshipType: 99 }],
    ["state", DeliveriesService.method.listDeliveries, { uidp: { childrenOf: group }, state: 99 }],
    ["providerType", AccountAssociationsService.method.checkAccountAssociation, { uid: group, providerType: 99 }],
    [
      "states[0]",
      SubscriptionsService.method.redeliverEvents,
      { uid: (await platform.subscription(group)).uid, startTime: { seconds: 1n }, states: [99] },
    ],
  ];
  for (const [field, method, request] of calls) {
    const answer = await both(platform, method, request as Record<string, never>, token);
    assert.deepEqual([answer.status, blamed(answer)], [400, [field]], `${method.toString()}: ${answer.text}`);
  }
  const kept = await platform.ok("GET", `/iam/v2/groups/${group}`);
  assert.equal(kept["kind"], "ORG_KIND_UNSPECIFIED");
});

test("a time or a duration out of range is refused over gRPC, and nothing fails inside", async () => {
  const keys = { issuer: "https://i.example.com", subject: "s", issuerKeys: '{"keys":[]}' };
  const never = { seconds: 2n ** 62n, nanos: 0 };
  const calls: [string, DescMethodUnary, object][] = [
    ["updated_since", TagsService.method.listTags, { uidp: { childrenOf: repo }, updatedSince: never }],
    ["updated_since", TagsService.method.listTags, { updatedSince: { seconds: 1n, nanos: -1 } }],
    ["start_time", DeliveriesService.method.listDeliveries, { uidp: { childrenOf: group }, startTime: never }],
    [
      "ttl",
      GroupInvitesService.method.createGroupInvite,
      { parent: group, groupInvite: { roleUid: "r", ttl: { seconds: 2n ** 62n, nanos: 0 } } },
    ],
    [
      "ttl",
      GroupInvitesService.method.createGroupInvite,
      { parent: group, groupInvite: { roleUid: "r", ttl: { seconds: 60n, nanos: -5 } } },
    ],
    [
      "staticKeys.expirationTime",
      IdentitiesService.method.createIdentity,
      {
        parent: group,
        identity: {
          name: "a",
          relationship: { case: "staticKeys", value: { ...keys, expirationTime: { seconds: -(2n ** 62n), nanos: 0 } } },
        },
      },
    ],
  ];
  for (const [field, method, request] of calls) {
    const { error } = await platform.grpc.call(method, request as Record<string, never>, token);
    const { code, details } = error as unknown as Json;
    assert.deepEqual([code, blamed({ body: { details } })], [3, [field]], method.toString());
  }
});

test("Connect reads JSON as REST does: the other names of values, and nothing that it does not know", async () => {
  const rpc = (method: string, body: object) => platform.call("POST", `/moorage.iam.v2.${method}`, { token, body });
  // At the root: a subgroup is of its organization's kind.
  const named = (name: string, kind: string) => rpc("GroupsService/CreateGroup", { group: { name, kind } });
  for (const [name, kind] of [
    ["bare", "CUSTOMER"],
    ["whole", "ORG_KIND_CUSTOMER"],
  ] as const) {
    const { status, body, text } = await named(name, kind);
    assert.deepEqual([status, body["kind"]], [200, "ORG_KIND_CUSTOMER"], text);
  }
  for (const answer of [
    await named("unknown", "NO_SUCH"),
    await rpc("GroupsService/CreateGroup", { parent: group, group: { name: "unknown", color: "red" } }),
  ])
    assert.deepEqual([answer.status, answer.body.code], [400, "invalid_argument"], answer.text);
  const list = await platform.ok("GET", `/iam/v2/groups?uidp.children_of=${group}&name=unknown`);
  assert.equal(list.totalCount, "0");
});
