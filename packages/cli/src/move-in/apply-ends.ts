// Tags that are to end there end here at the same time, unless they have an end here.
import { textIn, textsIn } from "../api/json-fields.ts";
import { ApiFailure } from "../api/failure.ts";
import type { JsonObject } from "../api/rest.ts";
import { type Applying, forItem, type PlannedRepo, tagOf } from "./apply-context.ts";
import { tagRowsHere } from "./here.ts";
import type { SourceTag } from "./model.ts";
import type { PlanItem } from "./plan.ts";

const FORBIDDEN = 403;

/** The end of a tag as an item beside it: the tag comes, whatever becomes of its end. */
export function endItems(
  { action, source, target, digest = "" }: PlanItem,
  { name, endMs, endFault }: SourceTag,
  rows: ReadonlyMap<string, JsonObject>,
): PlanItem[] {
  if (action === "cannot" || digest === "") return [];
  const item = { kind: "tag-end" as const, source, target };
  if (endFault !== undefined) return [{ ...item, action: "cannot", why: endFault }];
  if (endMs === undefined) return [];
  const endTime = new Date(endMs).toISOString();
  const planned: PlanItem = { ...item, action: "create", why: "takes the right to delete tags", digest, endTime };
  const now = textIn(rows.get(name), "expireTime");
  if (now === "") return [planned];
  return [{ ...planned, action: "same", why: Date.parse(now) === endMs ? "" : `ends at ${now} here, which stays` }];
}

/** Gives the tags of a repo that came their ends. */
export async function applyEnds({ rest, here, results }: Applying, { item, ends }: PlannedRepo): Promise<void> {
  if (ends.length === 0) return;
  const repo = here.repos.get(item.target);
  const rows =
    repo === undefined ? new Map<string, never>() : await forItem(results, item, () => tagRowsHere(rest, repo.uid));
  for (const end of ends) {
    const now = rows?.get(tagOf(end));
    const endTime = end.endTime ?? "";
    if (repo === undefined || now === undefined) results.add(end, "failed", "its tag is not here");
    else if (textIn(now, "digest") !== end.digest) results.add(end, "kept", "its tag points elsewhere here");
    else if (Date.parse(textIn(now, "expireTime")) === Date.parse(endTime)) results.add(end, "same");
    else if (textIn(now, "expireTime") !== "") results.add(end, "kept", `ends at ${textIn(now, "expireTime")} here`);
    else if (Date.parse(endTime) <= Date.now()) results.add(end, "failed", `${endTime} is past: it has no end here`);
    else await forItem(results, end, () => setEnd({ rest, results }, repo.uid, end, now));
  }
}

/** Without a digest the tag stays where it is, even when it was moved a moment ago. */
async function setEnd(
  { rest, results }: Pick<Applying, "rest" | "results">,
  repo: string,
  end: PlanItem,
  now: JsonObject,
): Promise<void> {
  const kept = { deprecated: now["deprecated"] === true, bundles: textsIn(now, "bundles") };
  const body = { name: tagOf(end), expireTime: end.endTime ?? "", ...kept };
  try {
    await rest.call("POST", `/registry/v2/tags/${repo}`, { body });
    results.add(end, "done");
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.httpStatus !== FORBIDDEN) throw error;
    results.add(end, "cannot", "its tag came; an end takes the right to delete tags, which you do not have here");
  }
}
