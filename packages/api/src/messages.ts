// The messages and services alone, without the client: what the server loads.
export * from "./gen/moorage/common/capabilities_pb.ts";
export * from "./gen/moorage/common/names_pb.ts";
export * from "./gen/moorage/common/options_pb.ts";
export * from "./gen/moorage/common/pulls_pb.ts";
export * from "./gen/moorage/common/uidp_pb.ts";
export * from "./gen/moorage/iam/v2/groups_pb.ts";
export * from "./gen/moorage/iam/v2/identities_pb.ts";
export * from "./gen/moorage/iam/v2/roles_pb.ts";
export * from "./gen/moorage/iam/v2/role_bindings_pb.ts";
export * from "./gen/moorage/iam/v2/group_invites_pb.ts";
export {
  type MissingDocument,
  MissingDocumentSchema,
  type TermsNotAcceptedDetail,
  TermsNotAcceptedDetailSchema,
} from "./gen/moorage/iam/terms_pb.ts";
export * from "./gen/moorage/iam/v2/terms_pb.ts";
export * from "./gen/moorage/iam/v2/access_pb.ts";
export * from "./gen/moorage/iam/v2/account_associations_pb.ts";
export * from "./gen/moorage/iam/v2/audit_pb.ts";
export * from "./gen/moorage/iam/v2/capabilities_pb.ts";
export * from "./gen/moorage/iam/v2/personal_tokens_pb.ts";
export * from "./gen/moorage/iam/v2/sessions_pb.ts";
export * from "./gen/moorage/iam/v2/identity_providers_pb.ts";
export * from "./gen/moorage/iam/v2/external_group_role_mappings_pb.ts";
export * from "./gen/moorage/registry/v2/quotas_pb.ts";
export * from "./gen/moorage/registry/v2/repos_pb.ts";
export * from "./gen/moorage/registry/v2/tags_pb.ts";
export * from "./gen/moorage/registry/v2/images_pb.ts";
export * from "./gen/moorage/registry/v2/search_pb.ts";
export * from "./gen/moorage/registry/v2/signature_policies_pb.ts";
export * from "./gen/moorage/registry/v2/signatures_pb.ts";
export * from "./gen/moorage/registry/v2/signers_pb.ts";
export * from "./gen/moorage/registry/v2/trust_roots_pb.ts";
export * from "./gen/moorage/registry/v2/storage_pb.ts";
export * from "./gen/moorage/registry/v2/pulls_pb.ts";
export * from "./gen/moorage/registry/v2/replications_pb.ts";
export * from "./gen/moorage/registry/v2/upstreams_pb.ts";
export * from "./gen/moorage/registry/v2/usage_pb.ts";
export * from "./gen/moorage/registry/v2/diffs_pb.ts";
export * from "./gen/moorage/registry/v2/end_of_life_pb.ts";
export * from "./gen/moorage/events/v2/subscriptions_pb.ts";
export * from "./gen/moorage/events/v2/deliveries_pb.ts";
export * from "./gen/moorage/events/v2/events_pb.ts";
export * from "./gen/moorage/events/v2/event_bodies_pb.ts";
export * from "./gen/moorage/vulnerabilities/v2/advisories_pb.ts";
export * from "./gen/moorage/vulnerabilities/v2/findings_pb.ts";
export * from "./gen/moorage/vulnerabilities/v2/advisory_exports_pb.ts";
export * from "./gen/moorage/vulnerabilities/v2/scanners_pb.ts";
export * from "./gen/moorage/vulnerabilities/v2/scans_pb.ts";
export * from "./gen/moorage/vulnerabilities/v2/exposures_pb.ts";
export * from "./gen/moorage/advisory/v2/security_advisories_pb.ts";
export * from "./gen/moorage/libraries/v2/artifacts_pb.ts";
export * from "./gen/moorage/libraries/v2/downloads_pb.ts";
export * from "./gen/moorage/libraries/v2/artifact_policies_pb.ts";
export * from "./gen/moorage/libraries/v2/blocks_pb.ts";
export * from "./gen/moorage/libraries/v2/upstreams_pb.ts";
export * from "./gen/moorage/libraries/v2/library_findings_pb.ts";
export * from "./gen/moorage/operations/v2/attention_pb.ts";
export * from "./gen/moorage/operations/v2/operations_pb.ts";
export * from "./gen/moorage/ping/v2/ping_pb.ts";
export * from "./gen/moorage/oidc/sts_pb.ts";
