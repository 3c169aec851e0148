// The messages and services of the v1 API, which have names in common with those of v2.
export * from "../gen/moorage/iam/account_associations_pb.ts";
export * from "../gen/moorage/iam/external_group_role_mappings_pb.ts";
export * from "../gen/moorage/iam/group_invites_pb.ts";
export * from "../gen/moorage/iam/groups_pb.ts";
export * from "../gen/moorage/iam/identities_pb.ts";
export * from "../gen/moorage/iam/identity_providers_pb.ts";
export * from "../gen/moorage/iam/role_bindings_pb.ts";
export * from "../gen/moorage/iam/roles_pb.ts";
export * from "../gen/moorage/iam/terms_pb.ts";
