import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import { parseTimedTag } from "../../registry/index.ts";
import type { PublicReference } from "../anonymous.ts";
import { isDigest } from "../digests.ts";
import { manifestAsOf, POLICY } from "../tags/timed-pull.ts";
import type { Pulled } from "../pulls/pulled-manifest.ts";

const selectByDigest = statement<Pulled & { touch_time: number }>(
  `select m.digest, m.media_type, m.content, m.touch_time, ${POLICY} from manifests as m where m.repo = ? and m.digest = ?`,
  ["text", "text"],
);
const selectByTag = statement<Pulled>(
  `select m.digest, m.media_type, m.content, ${POLICY} from tags as t join manifests as m on m.repo = t.parent and m.digest = t.digest where t.parent = ? and t.name = ?`,
  ["text", "text"],
);

/** What a reference of a pull names: a digest, or a tag, also where it is asked for as of a time. */
export function pulledOf(reference: string): PublicReference {
  if (isDigest(reference)) return { digest: reference };
  return { tag: parseTimedTag(reference)?.tag ?? reference };
}

/**
 * The manifest of the repo that the reference names: a digest, a tag, or a tag as of a time. Undefined when the repo
 * does not hold it; `touch_time` is read for a digest alone. Throws as `manifestAsOf` does.
 */
export async function heldManifest(
  call: Call,
  repo: string,
  reference: string,
): Promise<(Pulled & { touch_time?: number }) | undefined> {
  if (isDigest(reference)) return (await selectByDigest(call.tx, repo, reference))[0];
  const timed = parseTimedTag(reference);
  if (timed) return manifestAsOf(call, repo, reference, timed);
  return (await selectByTag(call.tx, repo, reference))[0];
}
