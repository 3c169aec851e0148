// Everything a client needs: messages, services, the vocabulary of errors.
export * from "./gen/moorage/common/capabilities_pb.ts";
export * from "./gen/moorage/common/options_pb.ts";
export * from "./gen/moorage/common/uidp_pb.ts";
export * from "./gen/moorage/iam/v2/groups_pb.ts";
export * from "./gen/moorage/iam/v2/identities_pb.ts";
export * from "./gen/moorage/iam/v2/roles_pb.ts";
export * from "./gen/moorage/iam/v2/role_bindings_pb.ts";
export * from "./gen/moorage/iam/v2/group_invites_pb.ts";
export * from "./gen/moorage/iam/v2/terms_pb.ts";
export * from "./gen/moorage/iam/v2/account_associations_pb.ts";
export * from "./gen/moorage/iam/v2/identity_providers_pb.ts";
export * from "./gen/moorage/iam/v2/external_group_role_mappings_pb.ts";
export * from "./gen/moorage/registry/v2/repos_pb.ts";
export * from "./gen/moorage/registry/v2/tags_pb.ts";
export * from "./gen/moorage/registry/v2/images_pb.ts";
export * from "./gen/moorage/ping/v2/ping_pb.ts";
export * from "./gen/moorage/oidc/sts_pb.ts";
