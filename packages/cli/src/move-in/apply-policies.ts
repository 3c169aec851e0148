// Policies and quotas of a plan, after its content: only with `--policies`, and only beside what is set here already.
import { numberIn, objectIn, textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import { ApiFailure } from "../api/failure.ts";
import { type Applying, forItem } from "./apply-context.ts";
import { applyRetention } from "./apply-retention.ts";
import type { PlanItem } from "./plan.ts";

const KINDS: readonly string[] = ["policy", "retention", "quota"];

/** Sets what the plan has of policies and quotas. Without `wanted`, they are left, and the results say so. */
export async function applyPolicies(applying: Applying, wanted: boolean): Promise<void> {
  const { plan, results } = applying;
  for (const item of plan.items) {
    if (item.action === "cannot" || !KINDS.includes(item.kind)) continue;
    if (item.kind === "retention") await forItem(results, item, () => applyRetention(applying, item, wanted));
    else if (!wanted) results.add(item, "left", "comes with --policies");
    else if (item.kind === "policy") await forItem(results, item, () => applyImmutable(applying, item));
    else await forItem(results, item, () => applyQuota(applying, item));
  }
}

async function applyImmutable({ rest, here, results }: Applying, item: PlanItem): Promise<void> {
  const repo = here.repos.get(item.target);
  if (repo === undefined) return results.add(item, "failed", "its image is not there");
  const now = textsIn(objectIn(await rest.call("GET", `/registry/v2/repos/${repo.uid}`), "tagPolicy"), "immutableTags");
  const pattern = item.immutable ?? "";
  if (now.includes(pattern)) return results.add(item, "same");
  const query = { updateMask: "tagPolicy.immutableTags" };
  const body = { tagPolicy: { immutableTags: [...now, pattern] } };
  await rest.call("PATCH", `/registry/v2/repos/${repo.uid}`, { query, body });
  results.add(item, "done");
}

async function applyQuota({ rest, here, results }: Applying, item: PlanItem): Promise<void> {
  const group = here.groups.get(item.target);
  if (group === undefined) return results.add(item, "failed", "its group is not there");
  const now = await rest.call("GET", `/registry/v2/quotas/${group}`).catch((error: unknown): JsonObject | undefined => {
    if (error instanceof ApiFailure && error.httpStatus === 404) return undefined;
    throw error;
  });
  const bytes = item.bytes ?? 0;
  if (now !== undefined && textIn(now, "bytes") !== "")
    return numberIn(now, "bytes") === bytes
      ? results.add(item, "same")
      : results.add(item, "kept", `is ${textIn(now, "bytes")} bytes here`);
  if (now !== undefined) return results.add(item, "kept", "has a quota here without a limit of bytes");
  await rest.call("POST", `/registry/v2/quotas/${group}`, { body: { bytes: String(bytes) } });
  results.add(item, "done");
}
