import type { ChangeKind } from "../../api/gen/registry.ts";
import { Badge, type BadgeLook } from "../../ui/badge.tsx";

const WORDS: Readonly<Record<ChangeKind, string>> = {
  CHANGE_KIND_UNSPECIFIED: "",
  CHANGE_KIND_ADDED: "new",
  CHANGE_KIND_REMOVED: "gone",
  CHANGE_KIND_CHANGED: "changed",
};

/** Whether something is new, gone or changed. `isBadNews`: whether what is new is worse than what is gone. */
export function KindBadge({ kind, isBadNews = false }: { kind: ChangeKind; isBadNews?: boolean }) {
  const good: BadgeLook = isBadNews ? "danger" : "success";
  const gone: BadgeLook = isBadNews ? "success" : "warning";
  const look = kind === "CHANGE_KIND_ADDED" ? good : kind === "CHANGE_KIND_REMOVED" ? gone : "accent";
  return <Badge look={look}>{WORDS[kind]}</Badge>;
}
