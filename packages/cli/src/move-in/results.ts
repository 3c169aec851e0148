// What came of the items of a plan.
import type { JsonObject } from "../api/rest.ts";
import { ITEM_KINDS, type ItemKind, KNOWN_BY_SOURCE, type PlanItem } from "./plan.ts";

/** How an item ended. `kept`: it was changed here, and stays so; `left`: it was not asked for. */
export const OUTCOMES = ["done", "same", "kept", "left", "failed", "cannot"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** An item that ended. */
interface Ended {
  kind: ItemKind;
  /** Its path here; of what cannot come, its name there. */
  name: string;
  outcome: Outcome;
  why: string;
}

/** By what people know an item: where it is here; a rule, and what cannot come, by what it is there. */
function nameOf({ kind, source, target }: PlanItem): string {
  return target === "" || KNOWN_BY_SOURCE.includes(kind) ? source : target;
}

/** Collects how items end. */
export class Results {
  readonly #found = new Map<string, Ended>();

  /** Notes how an item ended, unless that is known. `why`: for people. */
  add(item: PlanItem, outcome: Outcome, why = ""): void {
    const name = nameOf(item);
    const key = `${item.kind} ${name}`;
    if (!this.#found.has(key)) this.#found.set(key, { kind: item.kind, name, outcome, why });
  }

  /** Notes that an item failed, whatever was known of it. */
  fail(item: PlanItem, why: string): void {
    const name = nameOf(item);
    this.#found.set(`${item.kind} ${name}`, { kind: item.kind, name, outcome: "failed", why });
  }

  /** Notes that something of an item was done that was the same otherwise. */
  improve(item: PlanItem, why: string): void {
    const name = nameOf(item);
    const key = `${item.kind} ${name}`;
    if (this.#found.get(key)?.outcome === "same") this.#found.set(key, { kind: item.kind, name, outcome: "done", why });
  }

  isFailed(item: PlanItem): boolean {
    return this.#found.get(`${item.kind} ${nameOf(item)}`)?.outcome === "failed";
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
