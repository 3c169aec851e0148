import { isReservedTag, type TimedTag } from "../../registry/index.ts";
import type { Call } from "../../core/call.ts";
import { type Row, statement } from "../../store/index.ts";
import { RegistryError } from "../errors.ts";

/** A manifest as a pull needs it. */
export type Pulled = Pick<Row<"manifests">, "digest" | "media_type" | "content">;

const SECOND_MS = 1_000;

// The record is found from the end of the tag's part of the primary key, however long it is.
const selectAsOf = statement<Pulled | { digest: string; media_type: null; content: null }>(
  `select h.digest, m.media_type, m.content from (select digest from tag_history where repo = ? and tag = ? and time <= ? order by time desc limit 1) as h
    left join manifests as m on m.repo = ? and m.digest = h.digest`,
);

/**
 * The manifest that the tag led to at the end of that second; until the second is over, that it leads to now. The tag
 * may be gone since. MANIFEST_UNKNOWN when there was no such tag then, when the second has not begun by this server's
 * clock, and when the manifest is held no more, with its digest.
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

/** There is no such tag or manifest in the repo; a time that was mistyped is told from a tag that is not there. */
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
