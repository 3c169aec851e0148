// Upstreams of Python, after all that the group holds itself is here: what it has published is asked for nowhere else.
import { ApiFailure } from "../api/failure.ts";
import { textIn } from "../api/json-fields.ts";
import { forItem } from "./apply-context.ts";
import type { PlannedProject, ProjectApplying } from "./project-context.ts";
import { upstreamHere } from "./plan-upstream.ts";
import type { PlanItem } from "./plan.ts";
import { withoutTrailingSlashes } from "./trailing-slashes.ts";

const CONFLICT = 409;

/** Makes the upstreams that are not there. One whose group lacks a project of its own waits. */
export async function applyUpstreams(applying: ProjectApplying, projects: readonly PlannedProject[]): Promise<void> {
  const { plan, results } = applying;
  const lacking = new Set(projects.filter(({ item }) => results.isFailed(item)).map(({ group }) => group));
  for (const item of plan.items) {
    if (item.kind !== "upstream" || item.action === "cannot") continue;
    if (lacking.has(item.target))
      results.fail(item, "waits until its projects are here: others would come by their names");
    else await forItem(results, item, () => applyUpstream(applying, item));
  }
}

async function applyUpstream({ rest, here, results }: ProjectApplying, item: PlanItem): Promise<void> {
  const group = here.groups.get(item.target);
  if (group === undefined) return results.fail(item, "its group is not there");
  if (await judged()) return;
  const { url = "", disabled = false, reserved = [], source } = item;
  const body = {
    ecosystem: "ECOSYSTEM_PYTHON",
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
    const ours = await upstreamHere(rest, group ?? "");
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
