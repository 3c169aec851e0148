// Any registry of OCI distribution: `_catalog` or names of a file, and the tags of today.
import type { SourceClient } from "./client.ts";
import { isTag, type Source, type SourceTag } from "./model.ts";
import { inParallel } from "./parallel.ts";
import { catalogOf, digestOfTag, tagNamesOf } from "./registry-reader.ts";
import { isOfOne } from "./source-error.ts";

/** `names`: the repositories, where the registry does not list them or not all are to come. */
export function ociSource(client: SourceClient, names: readonly string[] | undefined): Source {
  return {
    hasHistory: false,
    leavesBehind: "whatever is no image: accounts, rights, rules",
    async *repos() {
      if (names === undefined) for await (const name of catalogOf(client)) yield { name };
      else for (const name of names) yield { name };
    },
    tags: (repo) => inParallel(tagNamesOf(client, repo), (tag) => tagOf(client, repo, tag)),
  };
}

async function tagOf(client: SourceClient, repo: string, name: string): Promise<SourceTag> {
  const none = { name, digest: "", moves: [] };
  if (!isTag(name)) return { ...none, fault: "is not a valid tag name" };
  try {
    const digest = await digestOfTag(client, repo, name);
    if (digest === undefined) return { ...none, fault: "the source lists it, and answers 404" };
    return { name, digest, moves: [] };
  } catch (error) {
    // One tag that cannot be read ends nothing; a registry that does not answer ends the plan.
    if (!isOfOne(error)) throw error;
    return { ...none, fault: error.message };
  }
}
