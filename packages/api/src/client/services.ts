// The services of the API under the names that a client has for them.
import { SecurityAdvisoryService } from "../gen/moorage/advisory/v2/security_advisories_pb.ts";
import { DeliveriesService } from "../gen/moorage/events/v2/deliveries_pb.ts";
import { EventsService } from "../gen/moorage/events/v2/events_pb.ts";
import { SubscriptionsService } from "../gen/moorage/events/v2/subscriptions_pb.ts";
import { AccountAssociationsService } from "../gen/moorage/iam/v2/account_associations_pb.ts";
import { AuditEntriesService } from "../gen/moorage/iam/v2/audit_pb.ts";
import { ExternalGroupRoleMappingsService } from "../gen/moorage/iam/v2/external_group_role_mappings_pb.ts";
import { GroupInvitesService } from "../gen/moorage/iam/v2/group_invites_pb.ts";
import { GroupsService } from "../gen/moorage/iam/v2/groups_pb.ts";
import { IdentitiesService } from "../gen/moorage/iam/v2/identities_pb.ts";
import { IdentityProvidersService } from "../gen/moorage/iam/v2/identity_providers_pb.ts";
import { RoleBindingsService } from "../gen/moorage/iam/v2/role_bindings_pb.ts";
import { RolesService } from "../gen/moorage/iam/v2/roles_pb.ts";
import { TermsService } from "../gen/moorage/iam/v2/terms_pb.ts";
import { AccessService } from "../gen/moorage/iam/v2/access_pb.ts";
import { CapabilitiesService } from "../gen/moorage/iam/v2/capabilities_pb.ts";
import { PersonalTokensService } from "../gen/moorage/iam/v2/personal_tokens_pb.ts";
import { SessionsService } from "../gen/moorage/iam/v2/sessions_pb.ts";
import { ArtifactPoliciesService } from "../gen/moorage/libraries/v2/artifact_policies_pb.ts";
import { LibraryFindingsService } from "../gen/moorage/libraries/v2/library_findings_pb.ts";
import { UpstreamsService } from "../gen/moorage/libraries/v2/upstreams_pb.ts";
import { DownloadsService } from "../gen/moorage/libraries/v2/downloads_pb.ts";
import { BlocksService } from "../gen/moorage/libraries/v2/blocks_pb.ts";
import { ArtifactsService } from "../gen/moorage/libraries/v2/artifacts_pb.ts";
import { AttentionService } from "../gen/moorage/operations/v2/attention_pb.ts";
import { OperationsService } from "../gen/moorage/operations/v2/operations_pb.ts";
import { PingService } from "../gen/moorage/ping/v2/ping_pb.ts";
import { DiffsService } from "../gen/moorage/registry/v2/diffs_pb.ts";
import { EolTagsService, VersionsService } from "../gen/moorage/registry/v2/end_of_life_pb.ts";
import { ImagesService } from "../gen/moorage/registry/v2/images_pb.ts";
import { QuotasService } from "../gen/moorage/registry/v2/quotas_pb.ts";
import { ReposService } from "../gen/moorage/registry/v2/repos_pb.ts";
import { SearchService } from "../gen/moorage/registry/v2/search_pb.ts";
import { SbomsService } from "../gen/moorage/registry/v2/images_pb.ts";
import {
  SignatureExemptionsService,
  SignaturePoliciesService,
} from "../gen/moorage/registry/v2/signature_policies_pb.ts";
import { SignaturesService } from "../gen/moorage/registry/v2/signatures_pb.ts";
import { SignersService } from "../gen/moorage/registry/v2/signers_pb.ts";
import { TrustRootsService } from "../gen/moorage/registry/v2/trust_roots_pb.ts";
import { PullsService } from "../gen/moorage/registry/v2/pulls_pb.ts";
import { StorageService } from "../gen/moorage/registry/v2/storage_pb.ts";
import { ReplicationsService } from "../gen/moorage/registry/v2/replications_pb.ts";
import { RegistryUpstreamsService } from "../gen/moorage/registry/v2/upstreams_pb.ts";
import { UsageService } from "../gen/moorage/registry/v2/usage_pb.ts";
import { TagsService } from "../gen/moorage/registry/v2/tags_pb.ts";
import { AdvisoriesService } from "../gen/moorage/vulnerabilities/v2/advisories_pb.ts";
import { AdvisoryExportsService } from "../gen/moorage/vulnerabilities/v2/advisory_exports_pb.ts";
import { ExposuresService } from "../gen/moorage/vulnerabilities/v2/exposures_pb.ts";
import { FindingsService } from "../gen/moorage/vulnerabilities/v2/findings_pb.ts";
import { ScannersService } from "../gen/moorage/vulnerabilities/v2/scanners_pb.ts";
import { ScansService } from "../gen/moorage/vulnerabilities/v2/scans_pb.ts";

/** The services of a client, by name. */
export const SERVICES = {
  accountAssociations: AccountAssociationsService,
  advisories: AdvisoriesService,
  advisoryExports: AdvisoryExportsService,
  artifactPolicies: ArtifactPoliciesService,
  artifacts: ArtifactsService,
  auditEntries: AuditEntriesService,
  blocks: BlocksService,
  deliveries: DeliveriesService,
  diffs: DiffsService,
  downloads: DownloadsService,
  eolTags: EolTagsService,
  events: EventsService,
  externalGroupRoleMappings: ExternalGroupRoleMappingsService,
  exposures: ExposuresService,
  findings: FindingsService,
  groupInvites: GroupInvitesService,
  groups: GroupsService,
  identities: IdentitiesService,
  identityProviders: IdentityProvidersService,
  images: ImagesService,
  libraryFindings: LibraryFindingsService,
  access: AccessService,
  capabilities: CapabilitiesService,
  sessions: SessionsService,
  personalTokens: PersonalTokensService,
  attention: AttentionService,
  operations: OperationsService,
  ping: PingService,
  pulls: PullsService,
  registryUpstreams: RegistryUpstreamsService,
  replications: ReplicationsService,
  repos: ReposService,
  roleBindings: RoleBindingsService,
  roles: RolesService,
  sboms: SbomsService,
  quotas: QuotasService,
  scanners: ScannersService,
  scans: ScansService,
  search: SearchService,
  signatureExemptions: SignatureExemptionsService,
  signaturePolicies: SignaturePoliciesService,
  signatures: SignaturesService,
  signers: SignersService,
  storage: StorageService,
  securityAdvisories: SecurityAdvisoryService,
  subscriptions: SubscriptionsService,
  tags: TagsService,
  terms: TermsService,
  trustRoots: TrustRootsService,
  upstreams: UpstreamsService,
  usage: UsageService,
  versions: VersionsService,
} as const;
