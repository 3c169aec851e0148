// Policies and quotas of a plan, after its content: only with `--policies`, and only beside what is set here already.
import { objectIn, textsIn } from "../api/json-fields.ts";
import type { Json, JsonObject } from "../api/rest.ts";
import { type Applying, forItem } from "./apply-context.ts";
import { applyRetention } from "./apply-retention.ts";
import { POLICY_KINDS } from "./model.ts";
import type { PlanItem } from "./plan.ts";
import { gateOf, isInRepo, openRulesHere } from "./policies-here.ts";

const KINDS: readonly string[] = POLICY_KINDS;

/** Sets what the plan has of policies and quotas. Without `wanted`, they are left, and the results say so. */
export async function applyPolicies(applying: Applying, wanted: boolean): Promise<void> {
  const { plan, rest, here, results } = applying;
  const ruleHere = openRulesHere(rest, here, { keeps: false });
  for (const item of plan.items) {
    if (item.action === "cannot" || !KINDS.includes(item.kind)) continue;
    if (!wanted && item.kind !== "retention") {
      results.add(item, "left", "comes with --policies");
      continue;
    }
    await forItem(results, item, async () => {
      const [places, place] = isInRepo(item) ? [here.repos, "image"] : [here.groups, "group"];
      if (!places.has(item.target)) return results.add(item, "failed", `its ${place} is not there`);
      const found = await ruleHere(item);
      if (found.state === "same") return results.add(item, "same");
      if (found.state === "other") return results.add(item, "kept", found.why);
      if (item.kind === "retention") return applyRetention(applying, item, wanted);
      await set(applying, item);
      results.add(item, "done");
    });
  }
}

async function set(
  { rest, here }: Applying,
  { kind, target, immutable = "", bytes, settings }: PlanItem,
): Promise<void> {
  const repo = `/registry/v2/repos/${here.repos.get(target)?.uid ?? ""}`;
  const group = here.groups.get(target) ?? "";
  const change = (field: string, policy: Json): Promise<JsonObject> =>
    rest.call("PATCH", repo, { query: { updateMask: `tagPolicy.${field}` }, body: { tagPolicy: { [field]: policy } } });
  if (kind === "policy") {
    const now = textsIn(objectIn(await rest.call("GET", repo), "tagPolicy"), "immutableTags");
    await change("immutableTags", [...now, immutable]);
  } else if (kind === "gate") await change("vulnerabilities", gateOf(settings));
  else if (kind === "quota")
    await rest.call("POST", `/registry/v2/quotas/${group}`, { body: { bytes: String(bytes) } });
  else if (kind === "registry-upstream")
    await rest.call("POST", `/registry/v2/upstreams/${group}`, { body: { ...settings } });
  // Without a password it could do nothing, and would say so again and again.
  else await rest.call("POST", `/registry/v2/replications/${group}`, { body: { ...settings, disabled: true } });
}
