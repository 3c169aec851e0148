// The services and functions of iam that other features use.
export { BUILT_IN_ROLES, ensureBuiltInRoles } from "./built-in-roles.ts";
export { requireWholeToken } from "./accept-invite.ts";
export { accountAssociationsService } from "./account-associations.ts";
export { externalGroupRoleMappingsService } from "./external-group-role-mappings.ts";
export { auditEntriesService } from "./audit-entries.ts";
export { capabilitiesService } from "./capabilities.ts";
export { groupInvitesService } from "./group-invites.ts";
export { createGroupNamed, groups, groupsService } from "./groups.ts";
export { identities, identitiesService, relationshipOf } from "./identities.ts";
export { identityProvidersService, resealProviders } from "./identity-providers.ts";
export { isPasswordIssuer } from "./registry-passwords.ts";
export { validateRelationship } from "./relationship.ts";
export { type Person, personOf, subjectClaim } from "./sign-in-claims.ts";
export { iamCommands, type SignedIn, type SignIn, signIn, signInPerson } from "./sign-in.ts";
export {
  isOnlyProvider,
  ownCallback,
  type Provider,
  providerOf,
  providersIn,
  secretPlace,
  SHARED_CALLBACK,
} from "./sign-in-provider.ts";
export { roleBindingsService } from "./role-bindings.ts";
export { requireTerms, termsService } from "./terms.ts";
export { findSession, mayOnSessions, SESSION_IDLE_MS, sessionsService } from "./sessions.ts";
export { capabilitiesOf, capabilityName, roles, rolesService, toColumn } from "./roles.ts";
