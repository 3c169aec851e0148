import type { Tag } from "../../api/gen/registry.ts";
import { isAttachedTag } from "../../lib/attached-tag.ts";
import { parentUid } from "../../lib/uid.ts";

/** What one push moved: the tags of one image that got the same digest at nearly the same time. */
export interface Push {
  repoUid: string;
  digest: string;
  /** The newest of its tags, by which the rest of the row is read. */
  newest: Tag;
  tags: string[];
}

// A client pushes the tags of an image one after the other.
const MAX_APART_MS = 120_000;

/** The pushes of images that tags, newest first, were moved by, as far as their times and digests show it. */
export function pushesOf(tags: readonly Tag[]): Push[] {
  const pushes: Push[] = [];
  for (const tag of tags) {
    if (isAttachedTag(tag.name)) continue;
    const repoUid = parentUid(tag.uid);
    const same = pushes.find(
      ({ repoUid: repo, digest, newest }) =>
        repo === repoUid &&
        digest === tag.digest &&
        Date.parse(newest.updateTime ?? "") - Date.parse(tag.updateTime ?? "") <= MAX_APART_MS,
    );
    if (same === undefined) pushes.push({ repoUid, digest: tag.digest, newest: tag, tags: [tag.name] });
    else same.tags.push(tag.name);
  }
  return pushes;
}
