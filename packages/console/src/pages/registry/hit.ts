import type { SearchKind, SearchResult } from "../../api/gen/registry.ts";
import { shortDigest } from "../../lib/digest.ts";

/** A search result in words. */
export interface Hit {
  /** Unlike that of any other result of one search. */
  id: string;
  /** Such as `Tag`. */
  kind: string;
  text: string;
  /** The page that it leads to. */
  href: string;
}

const KINDS: Readonly<Record<SearchKind, string>> = {
  SEARCH_KIND_UNSPECIFIED: "Image",
  SEARCH_KIND_REPO: "Image",
  SEARCH_KIND_TAG: "Tag",
  SEARCH_KIND_DIGEST: "Digest",
  SEARCH_KIND_LABEL: "Label",
};

/** The words for a result, and where it leads: a repo, a tag's timeline, or an image. */
export function hitOf({ kind, name, tag, digest, labelKey, repoUid }: SearchResult): Hit {
  const id = [kind, repoUid, tag, digest, labelKey].join(" ");
  if (kind === "SEARCH_KIND_TAG") return hit(id, kind, `${name}:${tag}`, "/tag", `${name}:${tag}`);
  if (digest !== "") return hit(id, kind, `${name}@${shortDigest(digest)}`, "/image", `${name}@${digest}`);
  return hit(id, kind, name, "/repo", name);
}

function hit(id: string, kind: SearchKind, text: string, path: string, name: string): Hit {
  return { id, kind: KINDS[kind], text, href: `${path}?name=${encodeURIComponent(name)}` };
}
