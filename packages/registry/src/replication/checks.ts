import { removeFaulty, type RowCheck, withoutParent } from "@moorage/kernel/core/row-check";

const KEY = ["replication", "repository", "tag"];

/** The checks of replications. */
export const REPLICATION_CHECKS: readonly RowCheck[] = [
  withoutParent("replications"),
  {
    kind: "replication-item-without-replication",
    meaning: "it is noted what a replication pushed that is gone",
    find: `select ${KEY.join(", ")} from replication_items as i
      where not exists (select 1 from replications as r where r.uid = i.replication)`,
    show: KEY,
    repair: removeFaulty("replication_items", KEY),
  },
];
