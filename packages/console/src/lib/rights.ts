import { useQueries, useQuery } from "@tanstack/react-query";
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
    if (isPending) return READING;
    if (data?.capabilities.includes(capability)) return undefined;
    return reasonOf(capability);
  };
}

/** As `useRights`, for what is shown of several places together: it is possible where it is in any of them. */
export function useRightsInAny(uids: readonly string[]): Rights {
  const answers = useQueries({ queries: uids.map(rightsQuery) });
  return (capability) => {
    if (answers.some(({ data }) => data?.capabilities.includes(capability))) return undefined;
    if (answers.some(({ isPending }) => isPending)) return READING;
    return reasonOf(capability);
  };
}

const READING = "Loading your permissions";

const reasonOf = (capability: Capability): string =>
  `You need ${capability} here. Anyone who can assign roles on this group can grant it.`;
