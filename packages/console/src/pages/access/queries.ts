import {
  listAccountAssociations,
  listExternalGroupRoleMappings,
  listGroupInvites,
  listIdentities,
  listIdentityProviders,
  listRoleBindings,
  listRoles,
  listTermsAcceptances,
} from "../../api/gen/iam.ts";
import { readMail } from "../../api/account.ts";
import { listQuery } from "../../api/queries.ts";

/** The state of a list in its address. */
export interface ListSearch {
  group?: string;
  order?: string;
  identity?: string;
  role?: string;
  provider?: string;
}

const PAGE_SIZE = 100;

function paged({ group, order }: ListSearch) {
  return {
    pageSize: PAGE_SIZE,
    ...(group !== undefined && { uidp: { descendantsOf: group } }),
    ...(order !== undefined && { orderBy: order }),
  };
}

/** Identities of a group and those below it. */
export const identitiesList = (search: ListSearch) => listQuery(listIdentities, paged(search));
/** Passwords of machines among them, and what else has keys of its own. */
export const keysList = (search: ListSearch) =>
  listQuery(listIdentities, { ...paged(search), relationshipType: "RELATIONSHIP_TYPE_STATIC" });
/** What is assumed by tokens of other issuers: CI jobs, pods, machines of clouds. */
export const machinesList = (search: ListSearch) =>
  listQuery(listIdentities, { ...paged(search), relationshipType: "RELATIONSHIP_TYPE_CLAIM_MATCH" });
/** Role bindings, also those of one identity or one role. */
export const bindingsList = (search: ListSearch) =>
  listQuery(listRoleBindings, {
    ...paged(search),
    ...(search.identity !== undefined && { identity: search.identity }),
    ...(search.role !== undefined && { role: search.role }),
  });
/** Roles: those of the group, or all without one. */
export const rolesList = (search: ListSearch) => listQuery(listRoles, paged(search));
/** Identity providers. */
export const providersList = (search: ListSearch) => listQuery(listIdentityProviders, paged(search));
/** Mappings of external groups, also those of one provider. */
export const mappingsList = (search: ListSearch) =>
  listQuery(listExternalGroupRoleMappings, {
    ...paged(search),
    ...(search.provider !== undefined && { identityProviderUid: search.provider }),
  });
/** Whether links can be mailed. */
export const mailQuery = { queryKey: ["mail"], queryFn: readMail };
/** Invites. */
export const invitesList = (search: ListSearch) => listQuery(listGroupInvites, paged(search));
/** Cloud accounts. */
export const associationsList = (search: ListSearch) => listQuery(listAccountAssociations, paged(search));
/** Documents that a group and those above it have accepted. */
export const termsList = ({ group = "", order }: ListSearch) =>
  listQuery(listTermsAcceptances, { group, pageSize: PAGE_SIZE, ...(order !== undefined && { orderBy: order }) });
