import { type RowCheck, withoutParent, withoutRepo } from "@moorage/kernel/core/row-check";
import { REGISTRY_TABLES } from "./tables.ts";

/** The checks of repos and tags. */
export const REGISTRY_CHECKS: readonly RowCheck[] = [
  withoutRepo("tags", "parent", REGISTRY_TABLES.tags.key),
  withoutRepo("tag_history", "repo", REGISTRY_TABLES.tag_history.key),
  withoutParent("repos"),
];
