// What the steps of applying a plan share.
import type { RestClient } from "../api/rest.ts";
import { ApiFailure } from "../api/failure.ts";
import { lineOf } from "../command/failure.ts";
import type { Credentials } from "./authorization.ts";
import type { FolderContents } from "./folder-adoption.ts";
import type { Here } from "./here.ts";
import { ItemFailure } from "./item-failure.ts";
import type { Plan, PlanItem } from "./plan.ts";
import type { Results } from "./results.ts";

/** A plan that is being applied. */
export interface Applying {
  plan: Plan;
  rest: RestClient;
  here: Here;
  results: Results;
  /** What the server pulls with. */
  pull: Credentials;
  /** Whether the tags' histories come, too. */
  history: boolean;
  /** Where content is on this machine; undefined when the server fetches all of it. */
  contents: FolderContents | undefined;
}

/** A repo of a plan with its tags, none of which cannot come. */
export interface PlannedRepo {
  item: PlanItem;
  tags: PlanItem[];
  /** When some of its tags are to end. */
  ends: PlanItem[];
}

/** The repos of a plan that can come, with their tags. */
export function reposOf({ items }: Plan): PlannedRepo[] {
  const repos = new Map<string, PlannedRepo>();
  for (const item of items)
    if (item.kind === "repo" && item.action !== "cannot") repos.set(item.source, { item, tags: [], ends: [] });
  for (const item of items) {
    if (item.action === "cannot" || (item.kind !== "tag" && item.kind !== "tag-end")) continue;
    const repo = repos.get(item.source.slice(0, item.source.lastIndexOf(":")));
    (item.kind === "tag" ? repo?.tags : repo?.ends)?.push(item);
  }
  return [...repos.values()];
}

/** The tag that an item names. */
export function tagOf({ source }: PlanItem): string {
  return source.slice(source.lastIndexOf(":") + 1);
}

/**
 * Does the work of one item. What the server says against it is the item's failure and ends nothing else; everything
 * else is thrown, since it would be so for all others.
 */
export async function forItem<T>(results: Results, item: PlanItem, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isOfItem = error instanceof ItemFailure || (error instanceof ApiFailure && error.httpStatus !== 401);
    if (!isOfItem) throw error;
    results.fail(item, lineOf(error));
    return undefined;
  }
}
