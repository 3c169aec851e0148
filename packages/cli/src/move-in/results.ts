// What came of the items of a plan.
import type { JsonObject } from "../api/rest.ts";
import { ITEM_KINDS, type ItemKind, type PlanItem } from "./plan.ts";

/** How an item ended. `kept`: it was changed here, and stays so. */
export const OUTCOMES = ["done", "same", "kept", "failed", "cannot"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** An item that ended. */
interface Ended {
  kind: ItemKind;
  /** Its path here; of what cannot come, its name there. */
  name: string;
  outcome: Outcome;
  why: string;
}

/** Collects how items end. */
export class Results {
  readonly #found = new Map<string, Ended>();

  /** Notes how an item ended, unless that is known. `why`: for people. */
  add({ kind, source, target }: PlanItem, outcome: Outcome, why = ""): void {
    const name = target === "" ? source : target;
    if (!this.#found.has(`${kind} ${name}`)) this.#found.set(`${kind} ${name}`, { kind, name, outcome, why });
  }

  /** Notes that an item failed, whatever was known of it. */
  fail({ kind, target: name }: PlanItem, why: string): void {
    this.#found.set(`${kind} ${name}`, { kind, name, outcome: "failed", why });
  }

  isFailed({ kind, target }: PlanItem): boolean {
    return this.#found.get(`${kind} ${target}`)?.outcome === "failed";
  }

  /** How many items of each kind ended how. */
  counts(): JsonObject[] {
    return ITEM_KINDS.flatMap((kind) => {
      const of = [...this.#found.values()].filter((each) => each.kind === kind);
      if (of.length === 0) return [];
      const numbers = OUTCOMES.map((outcome) => [outcome, of.filter((each) => each.outcome === outcome).length]);
      return [{ kind, ...(Object.fromEntries(numbers) as JsonObject) }];
    });
  }

  /** Those that ended so. */
  of(...outcomes: Outcome[]): Ended[] {
    return [...this.#found.values()].filter(({ outcome }) => outcomes.includes(outcome));
  }
}
