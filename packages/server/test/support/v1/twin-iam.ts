import * as v2 from "@moorage/api";
import {
  ExternalGroupRoleMappings,
  GroupAccountAssociations,
  GroupInvites,
  Groups,
  Identities,
  IdentityProviders,
  RoleBindings,
  Roles,
} from "@moorage/api/v1/iam";
import {
  type Fields,
  type Kind,
  type KindName,
  name,
  NAMES,
  type Names,
  renamed,
  type Request,
  some,
  text,
} from "./twin-kind.ts";

const ISSUER = "https://issuer.example.com";
const KEYS = JSON.stringify({
  keys: [{ kty: "OKP", crv: "Ed25519", kid: "k", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }],
});
const CAPABILITIES: Readonly<Record<string, string>> = {
  CAP_REPO_LIST: "repo.list",
  CAP_TAG_LIST: "tag.list",
  CAP_IAM_GROUPS_LIST: "groups.list",
  CAP_MANIFEST_LIST: "manifest.list",
};

function relationship(names: Names): Fields {
  const { dice } = names;
  switch (dice.below(4)) {
    case 0:
      return { claimMatch: { issuer: ISSUER, subject: dice.pick(NAMES), claims: { repository: dice.pick(NAMES) } } };
    case 1:
      return {
        claimMatch: {
          issuerPattern: "https://issuer\\.example\\.com",
          subjectPattern: "s.*",
          audience: "https://audience.example.com",
          claimPatterns: { ref: "refs/.*" },
        },
      };
    case 2: {
      const keys = { issuer: ISSUER, subject: dice.pick(NAMES), issuerKeys: KEYS };
      return { staticKeys: { ...keys, expirationTime: "2035-01-01T00:00:00Z", audiences: some(names, [ISSUER]) } };
    }
    default:
      return {};
  }
}

function identityOfV1({ staticKeys, ...fields }: Fields): Fields {
  return staticKeys === undefined
    ? fields
    : { ...fields, static: renamed(staticKeys as Fields, { expirationTime: "expiration" }) };
}

/** The resources of moorage.iam. */
export const IAM: Readonly<Record<Exclude<KindName, "repo" | "tag">, Kind>> = {
  group: {
    parent: "group",
    fields: (names) => ({ name: name(names), description: text(names), verified: names.dice.chance(0.5) }),
    v1: {
      create: (parent, group) => [Groups.method.create, { parent, group }],
      replace: (id, group) => [Groups.method.update, { id, ...group }],
      remove: (id) => [Groups.method.delete, { id }],
    },
    v2: {
      create: (parent, group) => [v2.GroupsService.method.createGroup, { parent, group }],
      replace: (uid, group) => [
        v2.GroupsService.method.updateGroup,
        { group: { uid, ...group }, updateMask: "name,description,verified" },
      ],
      remove: (uid) => [v2.GroupsService.method.deleteGroup, { uid }],
    },
  },
  role: {
    parent: "group",
    fields: (names) => ({
      name: name(names),
      description: text(names),
      capabilities: some(names, Object.keys(CAPABILITIES)),
    }),
    v1: {
      create: (parentId, fields) => [Roles.method.create, { parentId, role: roleOfV1(fields) }],
      replace: (id, fields) => [Roles.method.update, { id, ...roleOfV1(fields) }],
      remove: (id) => [Roles.method.delete, { id }],
    },
    v2: {
      create: (parent, role) => [v2.RolesService.method.createRole, { parent, role }],
      replace: (uid, role) => [
        v2.RolesService.method.updateRole,
        { role: { uid, ...role }, updateMask: "name,description,capabilities" },
      ],
      remove: (uid) => [v2.RolesService.method.deleteRole, { uid }],
    },
  },
  identity: {
    parent: "group",
    fields: (names) => ({ name: name(names), description: text(names), ...relationship(names) }),
    v1: {
      create: (parentId, fields) => [Identities.method.create, { parentId, identity: identityOfV1(fields) }],
      replace: (id, fields) => [Identities.method.update, { id, ...identityOfV1(fields) }],
      remove: (id) => [Identities.method.delete, { id }],
    },
    v2: {
      create: (parent, identity) => [v2.IdentitiesService.method.createIdentity, { parent, identity }],
      replace: (uid, identity) => [
        v2.IdentitiesService.method.updateIdentity,
        { identity: { uid, ...identity }, updateMask: "name,description,claimMatch,staticKeys,awsIdentity" },
      ],
      remove: (uid) => [v2.IdentitiesService.method.deleteIdentity, { uid }],
    },
  },
  binding: {
    parent: "group",
    fields: (names) => ({ identityUid: names.one("identity"), roleUid: names.one("role") }),
    v1: {
      create: (parent, fields) => [RoleBindings.method.create, { parent, roleBinding: bindingOfV1(fields) }],
      replace: (id, fields) => [RoleBindings.method.update, { id, ...bindingOfV1(fields) }],
      remove: (id) => [RoleBindings.method.delete, { id }],
    },
    v2: {
      create: (parent, roleBinding) => [v2.RoleBindingsService.method.createRoleBinding, { parent, roleBinding }],
      replace: (uid, roleBinding) => [
        v2.RoleBindingsService.method.updateRoleBinding,
        { roleBinding: { uid, ...roleBinding }, updateMask: "identityUid,roleUid" },
      ],
      remove: (uid) => [v2.RoleBindingsService.method.deleteRoleBinding, { uid }],
    },
  },
  provider: {
    parent: "group",
    fields: (names) => ({
      name: name(names),
      description: text(names),
      defaultRole: names.dice.chance(0.5) ? "" : names.one("role"),
      oidc: {
        issuer: ISSUER,
        clientId: names.dice.pick(NAMES),
        clientSecret: text(names),
        additionalScopes: some(names, ["groups", "email"]),
        groupsClaim: text(names),
        correlationRule: names.dice.pick(["CORRELATION_RULE_UNSPECIFIED", "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID"]),
        pkceEnabled: names.dice.chance(0.5),
      },
    }),
    v1: {
      create: (parentId, identityProvider) => [IdentityProviders.method.create, { parentId, identityProvider }],
      replace: (id, fields) => [IdentityProviders.method.update, { id, ...fields }],
      remove: (id) => [IdentityProviders.method.delete, { id }],
    },
    v2: {
      create: (parent, identityProvider) => [
        v2.IdentityProvidersService.method.createIdentityProvider,
        { parent, identityProvider },
      ],
      replace: (uid, fields) => [
        v2.IdentityProvidersService.method.updateIdentityProvider,
        { identityProvider: { uid, ...fields }, updateMask: "name,description,defaultRole,oidc" },
      ],
      remove: (uid) => [v2.IdentityProvidersService.method.deleteIdentityProvider, { uid }],
    },
  },
  mapping: {
    parent: "provider",
    fields: (names) => ({
      externalGroupId: names.dice.pick(NAMES),
      roleUid: names.one("role"),
      scope: names.one("group"),
    }),
    v1: {
      create: (parentId, fields) => [
        ExternalGroupRoleMappings.method.create,
        { parentId, mapping: renamed(fields, { roleUid: "roleUidp" }) },
      ],
      remove: (id) => [ExternalGroupRoleMappings.method.delete, { id }],
    },
    v2: {
      create: (parent, externalGroupRoleMapping) => [
        v2.ExternalGroupRoleMappingsService.method.createExternalGroupRoleMapping,
        { parent, externalGroupRoleMapping },
      ],
      remove: (uid) => [v2.ExternalGroupRoleMappingsService.method.deleteExternalGroupRoleMapping, { uid }],
    },
    byV2: (uid, fields) => [
      v2.ExternalGroupRoleMappingsService.method.updateExternalGroupRoleMapping,
      { externalGroupRoleMapping: { uid, ...fields }, updateMask: "roleUid,scope" },
    ],
  },
  invite: {
    parent: "group",
    fields: (names) => ({
      roleUid: names.one("role"),
      ttl: names.dice.pick(["60s", "3600s", "9999999s"]),
      email: names.dice.pick(["", "ada@example.com"]),
      singleUse: names.dice.chance(0.5),
    }),
    v1: {
      create: (group, fields) => [GroupInvites.method.create, { group, ...renamed(fields, { roleUid: "role" }) }],
      remove: (id) => [GroupInvites.method.delete, { id }],
    },
    v2: {
      create: (parent, groupInvite) => [v2.GroupInvitesService.method.createGroupInvite, { parent, groupInvite }],
      remove: (uid) => [v2.GroupInvitesService.method.deleteGroupInvite, { uid }],
    },
    byV2: (uid, fields) => [
      v2.GroupInvitesService.method.updateGroupInvite,
      { groupInvite: { uid, ...fields }, updateMask: "email,singleUse" },
    ],
  },
  association: {
    parent: "group",
    fields: (names) => ({
      name: names.dice.pick(NAMES),
      description: text(names),
      ...(names.dice.chance(0.5) && { amazon: { account: "123456789012" } }),
      ...(names.dice.chance(0.5) && { google: { projectNumber: "998877665544" } }),
      ...(names.dice.chance(0.3) && { services: { serviceBindings: { scanner: names.one("identity") } } }),
    }),
    v1: {
      create: (group, fields) => [GroupAccountAssociations.method.create, { group, ...fields }],
      replace: (group, fields) => [GroupAccountAssociations.method.update, { group, ...fields }],
      remove: (group) => [GroupAccountAssociations.method.delete, { group }],
    },
    v2: {
      create: (parent, accountAssociation) => [
        v2.AccountAssociationsService.method.createAccountAssociation,
        { parent, accountAssociation },
      ],
      replace: (uid, fields) => [
        v2.AccountAssociationsService.method.updateAccountAssociation,
        {
          accountAssociation: { uid, ...fields },
          updateMask: "name,description,amazon,google,services,azure,github",
        },
      ],
      remove: (uid) => [v2.AccountAssociationsService.method.deleteAccountAssociation, { uid }],
    },
  },
};

function roleOfV1({ capabilities, ...fields }: Fields): Fields {
  return { ...fields, capabilities: (capabilities as string[]).map((each) => CAPABILITIES[each] ?? each) };
}

function bindingOfV1(fields: Fields): Fields {
  return renamed(fields, { identityUid: "identity", roleUid: "role" });
}

/** The requests that make several bindings together. */
export const BATCH = {
  v1: (parent: string, bindings: readonly Fields[]): Request => [
    RoleBindings.method.createBatch,
    { parent, roleBindings: bindings.map(bindingOfV1) },
  ],
  v2: (parent: string, bindings: readonly Fields[]): Request => [
    v2.RoleBindingsService.method.batchCreateRoleBindings,
    { parent, requests: bindings.map((roleBinding) => ({ parent, roleBinding })) },
  ],
};
