// Upstreams, after all that the group holds itself is here: what it has published is asked for nowhere else.
import { ApiFailure } from "../api/failure.ts";
import { textIn } from "../api/json-fields.ts";
import { forItem } from "./apply-context.ts";
import type { ProjectApplying } from "./project-context.ts";
import { upstreamHere } from "./plan-upstream.ts";
import type { PlanItem } from "./plan.ts";
import { withoutTrailingSlashes } from "./trailing-slashes.ts";

const CONFLICT = 409;

/** Makes the upstreams that are not there. One whose group lacks something of its own (`held`) waits. */
export async function applyUpstreams(
  applying: ProjectApplying,
  held: readonly { item: PlanItem; group: string }[],
): Promise<void> {
  const { plan, results } = applying;
  const lacking = new Set(held.filter(({ item }) => results.isFailed(item)).map(({ group }) => group));
  for (const item of plan.items) {
    if (item.kind !== "upstream" || item.action === "cannot") continue;
    if (lacking.has(item.target))
      results.fail(item, "waits until its libraries are here: others would come by their names");
    else await forItem(results, item, () => applyUpstream(applying, item));
  }
}

async function applyUpstream({ rest, here, results }: ProjectApplying, item: PlanItem): Promise<void> {
  const group = here.groups.get(item.target);
  if (group === undefined) return results.fail(item, "its group is not there");
  if (await judged()) return;
  const { ecosystem = "ECOSYSTEM_PYTHON", url = "", disabled = false, reserved = [], source } = item;
  const body = {
    ecosystem,
    description: `as ${source} had it`.slice(0, 200),
    url,
    disabled,
    reservedNames: reserved,
  };
  try {
    await rest.call("POST", `/libraries/v2/upstreams/${group}`, { body });
    results.add(item, "done");
  } catch (error) {
    // Made by a command that was killed, a moment ago.
    if (!(error instanceof ApiFailure) || error.httpStatus !== CONFLICT || !(await judged())) throw error;
  }

  /** Whether the group has one, and how that ends the item. */
  async function judged(): Promise<boolean> {
    const ours = await upstreamHere(rest, group ?? "", item.ecosystem ?? "ECOSYSTEM_PYTHON");
    if (ours === undefined) return false;
    const known = withoutTrailingSlashes(textIn(ours, "url"));
    results.add(
      item,
      known === item.url ? "same" : "kept",
      known === item.url ? "" : `the group has the upstream ${known} here`,
    );
    return true;
  }
}
