import { useRights } from "../../../lib/rights.ts";
import { parentUid } from "../../../lib/uid.ts";
import { useOrganizationsReason } from "../../access/organizations-reason.ts";

/** Why the person may not set the quota of a group: it is set from above. Undefined when they may. */
export function useQuotaReason(group: string): string | undefined {
  const above = parentUid(group);
  const rights = useRights(above);
  const noOrganization = useOrganizationsReason();
  if (group === "") return undefined;
  if (above === "")
    return noOrganization && "Only administrators of the installation can set the quota of an organization.";
  return rights("CAP_QUOTAS_UPDATE") && "To set this quota, you need CAP_QUOTAS_UPDATE on the group above.";
}
