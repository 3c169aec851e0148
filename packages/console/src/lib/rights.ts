import { useQuery } from "@tanstack/react-query";
import { type Capability, testCapabilities } from "../api/gen/iam.ts";
import { query } from "../api/queries.ts";

/** What the person may do on a resource, as a query for loaders. */
function rightsQuery(uid: string) {
  return query(testCapabilities, { uid });
}

/** Whether an action is possible: undefined when it is, otherwise the reason, for `disabledReason`. */
export type Rights = (capability: Capability) => string | undefined;

/** The rights of the person on a resource. The server decides again when the action is done. */
export function useRights(uid: string): Rights {
  const { data, isPending } = useQuery({ ...rightsQuery(uid), enabled: uid !== "" });
  return (capability) => {
    if (isPending) return "Your permissions are being read";
    if (data?.capabilities.includes(capability)) return undefined;
    return `You need ${capability} here. Whoever may give roles on this group can give it to you.`;
  };
}
