import { useQuery } from "@tanstack/react-query";
import { groupPath, groupsQuery } from "../../lib/groups.ts";

/** The path of a group by its uid, such as `acme/team`; empty until it is read. */
export function useGroupPath(uid: string): string {
  const { data } = useQuery(groupsQuery);
  return data === undefined ? "" : groupPath(uid, data.groups);
}

/** The path of a group. */
export function GroupPath({ uid }: { uid: string }) {
  return <span>{useGroupPath(uid)}</span>;
}
