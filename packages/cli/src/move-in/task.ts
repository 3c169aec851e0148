// What both steps of a move are about.
import { UsageFailure } from "../command/failure.ts";
import type { SourceKind } from "./flags.ts";
import type { Plan } from "./plan.ts";

export interface Task {
  kind: SourceKind;
  /** Scheme, host and port of the registry, or its folder. */
  origin: string;
  into: string;
  /** That of the plan. */
  file: string;
}

/** Throws a UsageFailure unless a plan is for the registry and the group that it was made for. */
export function requireSame(plan: Plan, { kind, origin, into, file }: Task): void {
  if (plan.kind !== kind || plan.address !== origin)
    throw new UsageFailure(`${file}: is a plan for ${plan.kind} ${plan.address}, not for ${kind} ${origin}`);
  if (plan.into !== into) throw new UsageFailure(`${file}: is a plan into ${plan.into}, not into ${into}`);
}

/** Throws a UsageFailure for a group that is not named by its path. */
export function requirePath(into: string): void {
  if (/^[0-9a-f]{40}/.test(into)) throw new UsageFailure("--into: name the group by its path, as acme/old");
}
