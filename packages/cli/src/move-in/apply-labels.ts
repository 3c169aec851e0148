// Labels of tags there become bundles of the tags here, beside those that they have.
import { textIn, textsIn } from "../api/json-fields.ts";
import { type Applying, forItem, type PlannedRepo, tagOf } from "./apply-context.ts";
import { tagRowsHere } from "./here.ts";
import { MAX_BUNDLES } from "./plan.ts";

/** Adds what the tags of a repo lack. Tags that point elsewhere here keep what they have. */
export async function applyLabels({ rest, here, results }: Applying, { item, tags }: PlannedRepo): Promise<void> {
  const repo = here.repos.get(item.target);
  const labeled = tags.filter(({ bundles = [] }) => bundles.length > 0);
  if (repo === undefined || labeled.length === 0) return;
  const rows = (await forItem(results, item, () => tagRowsHere(rest, repo.uid))) ?? new Map<string, never>();
  for (const tag of labeled) {
    const now = rows.get(tagOf(tag));
    if (now === undefined || textIn(now, "digest") !== tag.digest) continue;
    const lacking = lackingBundles(tag.bundles, textsIn(now, "bundles"));
    if (lacking.length === 0) continue;
    await forItem(results, tag, async () => {
      const bundles = [...textsIn(now, "bundles"), ...lacking];
      if (bundles.length > MAX_BUNDLES) return results.fail(tag, `would have more than ${MAX_BUNDLES} bundles`);
      // Without a digest the tag stays where it is, even when it was moved a moment ago.
      const body = { name: tagOf(tag), deprecated: now["deprecated"] === true, bundles };
      await rest.call("PUT", `/registry/v1/tags/${textIn(now, "uid")}`, { body });
      results.improve(tag, `got ${lacking.length === 1 ? "a label" : `${lacking.length} labels`}`);
    });
  }
}

/** Those of the labels there that a tag here does not have. */
export function lackingBundles(there: readonly string[] | undefined, here: readonly string[]): string[] {
  return (there ?? []).filter((each) => !here.includes(each));
}
