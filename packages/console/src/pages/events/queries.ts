import { listSubscriptions } from "../../api/gen/events.ts";
import { listQuery } from "../../api/queries.ts";

const PAGE_SIZE = 100;

/** The subscriptions of a group and of all below it; of all groups for an empty one. */
export function subscriptionsQuery(group: string, orderBy = "createTime") {
  return listQuery(listSubscriptions, {
    ...(group !== "" && { uidp: { descendantsOf: group } }),
    orderBy,
    pageSize: PAGE_SIZE,
  });
}
