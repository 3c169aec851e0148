import type { Call } from "@moorage/kernel/core/call";
import { statement } from "@moorage/kernel/store";
import { isReservedTag, type TimedTag } from "../../registry/index.ts";
import { RegistryError } from "../errors.ts";
import type { Pulled } from "../pulls/pulled-manifest.ts";

const SECOND_MS = 1_000;

/**
 * Selects the policy and the deprecation of the repo of the manifest `m`, and whether there are policies of signatures.
 * By a range SQLite looks into the indexes of repos that have one, which are few; by equality it would read the row of
 * each repo.
 */
export const POLICY = `(select r.tag_policy from repos as r where r.uid between m.repo and m.repo and r.tag_policy is not null) as policy,
  (select r.deprecation from repos as r where r.uid between m.repo and m.repo and r.deprecation is not null) as deprecation,
  (select c.value from signature_policy_changes as c where c.parent = '') as signing`;

// The primary key leads to the last record before the time, however long the tag's history is.
const selectAsOf = statement<Pulled | { digest: string; media_type: null; content: null }>(
  `select h.digest, m.media_type, m.content, ${POLICY} from (select digest from tag_history where repo = ? and tag = ? and time <= ? order by time desc limit 1) as h
    left join manifests as m on m.repo = ? and m.digest = h.digest`,
  ["text", "text", "bigint", "text"],
);

/**
 * The manifest that the tag pointed to at the end of that second; during the second, the manifest that it points to
 * now. The tag may have been deleted since. Throws MANIFEST_UNKNOWN when the tag did not exist then, when the second
 * has not begun by the clock of this server, and, with its digest, when the manifest is no longer stored.
 */
export async function manifestAsOf(
  call: Call,
  repo: string,
  reference: string,
  { tag, endMs }: TimedTag,
): Promise<Pulled> {
  if (call.nowMs <= endMs - SECOND_MS) throw unknown(reference, "that second has not begun yet");
  const [found] = await selectAsOf(call.tx, repo, tag, endMs, repo);
  if (found === undefined || found.digest === "") throw unknown(reference, `there was no tag ${tag} then`);
  if (found.content === null) throw unknown(reference, `it was ${found.digest}, which is not held`);
  return found;
}

/**
 * The error for a tag or manifest that the repo does not have. For a reserved tag that is not a valid time, the message
 * explains the format.
 */
export function notPulled(reference: string): RegistryError {
  return unknown(
    reference,
    isReservedTag(reference) ? "a tag as of a time is <tag>--at--<yyyymmddThhmmssZ>, in UTC" : undefined,
  );
}

function unknown(reference: string, why?: string): RegistryError {
  return new RegistryError(
    "MANIFEST_UNKNOWN",
    `Manifest not found: ${reference}${why === undefined ? "" : `: ${why}`}`,
    {
      detail: { reference },
      details: { resource: { type: "moorage.registry.v2.Manifest", name: reference } },
    },
  );
}
