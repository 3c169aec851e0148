import {
  GroupsService,
  IdentitiesService,
  RolesService,
  RoleBindingsService,
  GroupInvitesService,
  IdentityProvidersService,
  ExternalGroupRoleMappingsService,
  TermsService,
  AccountAssociationsService,
  AuditEntriesService,
  CapabilitiesService,
} from "@moorage/api/messages";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { accountAssociationsService } from "./account-associations.ts";
import { auditEntriesService } from "./audit-entries.ts";
import { belowGroup } from "./below-group.ts";
import { capabilitiesService } from "./capabilities.ts";
import { IAM_CHECKS } from "./checks.ts";
import { iamCommands } from "./commands.ts";
import { externalGroupRoleMappingsService } from "./external-group-role-mappings.ts";
import { groupInvitesService } from "./group-invites.ts";
import { groupsService } from "./groups-service.ts";
import { identitiesService } from "./identities.ts";
import { resealProviders } from "./identity-providers.ts";
import { identityProvidersService } from "./identity-providers.ts";
import { roleBindingsService } from "./role-bindings.ts";
import { rolesService } from "./roles.ts";
import { IAM_TABLES } from "./tables.ts";
import { termsService } from "./terms.ts";

export const iamArea: Area = {
  name: "iam",
  tables: IAM_TABLES,
  below: { group: belowGroup },
  checks: IAM_CHECKS,
  reseal: resealProviders,
  services: [
    served(GroupsService, groupsService),
    served(IdentitiesService, identitiesService),
    served(RolesService, rolesService),
    served(RoleBindingsService, roleBindingsService),
    served(GroupInvitesService, groupInvitesService),
    served(IdentityProvidersService, identityProvidersService),
    served(ExternalGroupRoleMappingsService, externalGroupRoleMappingsService),
    served(TermsService, termsService),
    served(AccountAssociationsService, accountAssociationsService),
    served(AuditEntriesService, auditEntriesService),
    served(CapabilitiesService, capabilitiesService),
  ],
  commands: iamCommands,
};
