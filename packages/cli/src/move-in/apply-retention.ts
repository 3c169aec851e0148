// Rules of retention of a plan: what they would delete is said before they are set, and they are set on request alone.
import { objectIn, objectsIn, textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import type { Applying } from "./apply-context.ts";
import type { PlanItem } from "./plan.ts";

const MAX_NAMED = 5;

/** Sets rules of a repo without any, when that is `wanted`; says which tags they delete in either case. */
export async function applyRetention(
  { rest, here, results }: Applying,
  item: PlanItem,
  wanted: boolean,
): Promise<void> {
  const repo = here.repos.get(item.target);
  if (repo === undefined) return results.add(item, "failed", "its image is not there");
  const rules = item.rules ?? [];
  const path = `/registry/v2/repos/${repo.uid}`;
  const policy = objectIn(await rest.call("GET", path), "tagPolicy");
  const retention = rules.map((rule): JsonObject => ({ ...rule }));
  const preview = await rest.call("POST", `${path}:previewTagRetention`, {
    body: { tagPolicy: { ...policy, retention }, pageSize: MAX_NAMED },
    reads: true,
  });
  if (!wanted) return results.add(item, "left", `comes with --policies; ${expiringText(preview, "would delete")}`);
  await rest.call("PATCH", path, {
    query: { updateMask: "tagPolicy.retention" },
    body: { tagPolicy: { retention } },
  });
  results.add(item, "done", expiringText(preview, "the next collection deletes"));
}

function expiringText(preview: JsonObject, words: string): string {
  const total = Number(textIn(preview, "totalCount"));
  if (!(total > 0)) return `${words} no tag as of now`;
  const names = objectsIn(preview, "expiringTags").map((tag) => textIn(tag, "name"));
  const more = total - names.length;
  return `${words} ${total} ${total === 1 ? "tag" : "tags"} as of now: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
