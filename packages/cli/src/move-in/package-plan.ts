// What the plans of all registries of packages have in common.
import { Failure } from "../command/failure.ts";
import { FORM, MAX_ITEMS, type ItemKind, type Plan, type PlanItem } from "./plan.ts";

/** Throws a Failure when there are more items than a plan may have. */
export function requireSpace(count: number): void {
  if (count > MAX_ITEMS) throw new Failure(`there is more than one plan holds (${MAX_ITEMS} items): use --names`);
}

/**
 * The plan with these items; the source does not say how large their files are. `fileKinds`: of the items with a file.
 */
export function packagePlan(
  { kind, into, source }: { kind: string; into: string; source: { origin: string; leavesBehind: string } },
  items: PlanItem[],
  fileKinds: readonly ItemKind[],
): Plan {
  const count = items.filter((item) => fileKinds.includes(item.kind) && item.action === "create").length;
  return {
    plan: FORM,
    kind,
    address: source.origin,
    into,
    time: new Date().toISOString(),
    history: false,
    leavesBehind: source.leavesBehind,
    content: { count, bytes: 0, atLeast: true },
    items,
  };
}
