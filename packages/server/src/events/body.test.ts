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

test("a body is what the REST door prints, without what is secret or only asked for", () => {
  const provider = create(IdentityProviderSchema, {
    uid: "u",
    configuration: { case: "oidc", value: { clientId: "c", clientSecret: "hidden" } },
  });
  assert.deepEqual(read(bodyOf(IdentityProviderSchema, provider)), {
    uid: "u",
    name: "",
    description: "",
    defaultRole: "",
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
  assert.deepEqual(read(invite), { uid: "u", roleUid: "", email: "", singleUse: false, keyId: "" });
  assert.ok(!bodyOf(SubscriptionSchema, create(SubscriptionSchema, { secret: "hidden" })).includes("hidden"));
});

test("texts that are too long are left empty, at any depth; what is longest still stays", () => {
  const repo = create(RepoSchema, {
    uid: "u",
    description: "d".repeat(4096),
    readme: "r".repeat(4097),
    aliases: ["a".repeat(5000), "b"],
  });
  const { description, readme, aliases } = read(bodyOf(RepoSchema, repo));
  assert.deepEqual([description, readme, aliases], ["d".repeat(4096), "", ["", "b"]]);
});

test("what would be too large is told by its uid alone, and says so", () => {
  const aliases = Array.from({ length: 17 }, () => "a".repeat(4096));
  assert.equal(
    bodyOf(RepoSchema, create(RepoSchema, { uid: "u", name: "n", aliases })),
    '{"uid":"u","truncated":true}',
  );
  // Bytes are counted, not characters.
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
