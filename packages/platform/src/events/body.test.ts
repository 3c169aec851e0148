import assert from "node:assert/strict";
import { test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  BatchCreateRoleBindingsResponseSchema,
  GroupInviteSchema,
  IdentityProviderSchema,
  RepoSchema,
  SubscriptionSchema,
} from "@moorage/api";
import { bodyOf } from "./body.ts";

const read = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

test("a body is the JSON of the REST API, without secret and input-only fields", () => {
  const provider = create(IdentityProviderSchema, {
    uid: "u",
    configuration: { case: "oidc", value: { clientId: "c", clientSecret: "hidden" } },
  });
  assert.deepEqual(read(bodyOf(IdentityProviderSchema, provider)), {
    uid: "u",
    name: "",
    description: "",
    defaultRole: "",
    redirectUri: "",
    sharedCallback: false,
    oidc: {
      issuer: "",
      clientId: "c",
      additionalScopes: [],
      groupsClaim: "",
      correlationRule: "CORRELATION_RULE_UNSPECIFIED",
      pkceEnabled: false,
    },
  });
  const invite = bodyOf(
    GroupInviteSchema,
    create(GroupInviteSchema, { uid: "u", code: "hidden", ttl: { seconds: 77n } }),
  );
  assert.deepEqual(read(invite), {
    uid: "u",
    roleUid: "",
    email: "",
    singleUse: false,
    keyId: "",
    mailTo: "",
    mailState: "MAIL_STATE_UNSPECIFIED",
    mailReason: "",
  });
  assert.ok(!bodyOf(SubscriptionSchema, create(SubscriptionSchema, { secret: "hidden" })).includes("hidden"));
});

test("texts over the limit are emptied at any depth; a text of exactly the limit stays", () => {
  const repo = create(RepoSchema, {
    uid: "u",
    description: "d".repeat(4096),
    readme: "r".repeat(4097),
    aliases: ["a".repeat(5000), "b"],
  });
  const { description, readme, aliases } = read(bodyOf(RepoSchema, repo));
  assert.deepEqual([description, readme, aliases], ["d".repeat(4096), "", ["", "b"]]);
});

test("a body that is too large is replaced by the uid and a mark that it is truncated", () => {
  const aliases = Array.from({ length: 17 }, () => "a".repeat(4096));
  assert.equal(
    bodyOf(RepoSchema, create(RepoSchema, { uid: "u", name: "n", aliases })),
    '{"uid":"u","truncated":true}',
  );
  // The limit is in bytes, not characters.
  assert.equal(
    bodyOf(RepoSchema, create(RepoSchema, { uid: "u", aliases: aliases.slice(9).map(() => "€".repeat(4096)) })),
    '{"uid":"u","truncated":true}',
  );
  const roleBindings = Array.from({ length: 25 }, () => ({ uid: "u".repeat(3000) }));
  assert.equal(
    bodyOf(BatchCreateRoleBindingsResponseSchema, create(BatchCreateRoleBindingsResponseSchema, { roleBindings })),
    '{"truncated":true}',
  );
});
