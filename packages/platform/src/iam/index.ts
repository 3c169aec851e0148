// The services and functions of iam that other features use.
export { iamArea } from "./area.ts";
export { BUILT_IN_ROLES, ensureBuiltInRoles } from "./built-in-roles.ts";
export {
  arePublicGroupsOn,
  EVERYBODY,
  isBuiltInIdentity,
  OPEN_CAPABILITIES,
  PUBLIC_GROUPS_KEY,
  PUBLIC_GROUPS_OFF,
  setPublicGroups,
  SIGNED_IN,
} from "./built-in-identities.ts";
export { acceptInviteAs, requireWholeToken } from "./accept-invite.ts";
export { ACCOUNTS_ISSUER, ASSUMABLE } from "./assumable.ts";
export {
  accountsProvider,
  ensureAccountsProvider,
  type LocalAccounts,
  mayMakeAccounts,
  onlyAccountsProvider,
  someAccountsProvider,
} from "./accounts-provider.ts";
export { type InvitePreview, invitePreview } from "./invite-preview.ts";
export { createGroupNamed, groups, showLimits } from "./groups.ts";
export { holdsAllOf, requireAdminFor, requireHoldsAllOf } from "./identities.ts";
export { isPasswordIssuer, isPullTokenIssuer } from "./registry-passwords.ts";
export { endOf, relationshipOf } from "./relationship-column.ts";
export { type Person, personOf, subjectClaim } from "./sign-in-claims.ts";
export { type GrantedOwner, grantOwner, type OwnerGrant } from "./grant-owner.ts";
export { type SignedIn, type SignIn, signIn, signInPerson } from "./sign-in.ts";
export {
  isOnlyProvider,
  ownCallback,
  type Provider,
  providerOf,
  providersIn,
  secretPlace,
  SHARED_CALLBACK,
} from "./sign-in-provider.ts";
export { statedGroups } from "./stored-groups.ts";
export { requireTerms } from "./terms.ts";
export { insertFirstIdentity, insertOrganization } from "./first-rows.ts";
export { noteIdentitySeen } from "./seen-times.ts";
export { capabilitiesOf } from "./roles.ts";
