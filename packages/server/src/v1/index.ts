import type { DescService } from "@bufbuild/protobuf";
import { Registry } from "@moorage/api/v1/registry";
import type { ServiceContext } from "@moorage/kernel/core/service";
import type { Method } from "../runtime/methods.ts";
import { securityAdvisory } from "./advisory/service.ts";
import { accountAssociations } from "./iam/account-associations.ts";
import { externalGroupRoleMappings } from "./iam/external-group-role-mappings.ts";
import { groupInvites } from "./iam/group-invites.ts";
import { groups } from "./iam/groups.ts";
import { identities } from "./iam/identities.ts";
import { identityProviders } from "./iam/identity-providers.ts";
import { roleBindings } from "./iam/role-bindings.ts";
import { roles } from "./iam/roles.ts";
import { terms } from "./iam/terms.ts";
import { artifacts } from "./libraries/artifacts.ts";
import { registry } from "./registry/service.ts";
import { vulnerabilities } from "./registry/vulnerabilities.ts";
import { advisories } from "./vulnerabilities/advisories.ts";

const METHODS: readonly [string, Method][] = [
  ...groups,
  ...roles,
  ...roleBindings,
  ...identities,
  ...groupInvites,
  ...identityProviders,
  ...accountAssociations,
  ...externalGroupRoleMappings,
  ...terms,
  ...vulnerabilities,
  ...advisories,
  ...securityAdvisory,
  ...artifacts,
];

/** The services of v1. */
export const V1_SERVICES: readonly DescService[] = [
  ...new Set([...METHODS.map(([, { desc }]) => desc.parent), Registry]),
];

/** The methods of v1 by full name. */
export function v1Methods(context: Pick<ServiceContext, "readBlob">): Map<string, Method> {
  return new Map([...METHODS, ...registry(context)]);
}
