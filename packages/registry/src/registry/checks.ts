import { removeFaulty, type RowCheck, withoutParent, withoutRepo } from "@moorage/kernel/core/row-check";
import { REGISTRY_TABLES } from "./tables.ts";

/** The checks of repos and tags. */
export const REGISTRY_CHECKS: readonly RowCheck[] = [
  withoutRepo("tags", "parent", REGISTRY_TABLES.tags.key),
  withoutRepo("tag_history", "repo", REGISTRY_TABLES.tag_history.key),
  withoutRepo("last_pulls", "repo", REGISTRY_TABLES.last_pulls.key),
  withoutRepo("running_images", "repo", REGISTRY_TABLES.running_images.key),
  {
    kind: "pull-sum-without-pull",
    meaning: "a sum of pulls is negative or ends before it begins; without the row the pulls of it are not counted",
    find: "select t.repo, t.day, t.digest, t.tag, t.identity from pull_days as t where t.count < 0 or t.bytes < 0 or t.first_time > t.last_time",
    show: REGISTRY_TABLES.pull_days.key,
    repair: removeFaulty("pull_days", REGISTRY_TABLES.pull_days.key),
  },
  withoutParent("repos"),
];
