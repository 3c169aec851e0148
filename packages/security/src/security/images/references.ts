import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { parseTimedTag } from "@moorage/registry/registry";
import { statement } from "@moorage/kernel/store";

/** One of the two images that are compared, as the request names it. */
export interface Reference {
  text: string;
  /** Empty when a digest was named. */
  tag: string;
  /** Empty when a tag was named. */
  digest: string;
  /** The tag is looked up as it was at this time, in milliseconds since 1970. */
  timeMs?: number;
}

const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
const FORMS = "must be a tag, a digest, or tag@time with an ISO 8601 time, as latest@2026-01-02T03:04:05Z";

const selectNow = statement<{ digest: string }>("select digest from tags where parent = ? and name = ?");
const selectThen = statement<{ digest: string }>(
  "select digest from tag_history where repo = ? and tag = ? and time <= ? order by time desc limit 1",
);

/**
 * Reads a tag, a digest, `tag@time` or `tag--at--time`. Throws INVALID_ARGUMENT on the field, also for a time that has
 * not begun.
 */
export function parseReference(field: string, text: string, nowMs: number): Reference {
  if (DIGEST.test(text)) return { text, tag: "", digest: text };
  const timed = parseTimedTag(text);
  const at = text.indexOf("@");
  const tag = timed?.tag ?? (at < 0 ? text : text.slice(0, at));
  if (!TAG.test(tag)) throw invalidArgument({ field, description: FORMS });
  if (timed === undefined && at < 0) return { text, tag, digest: "" };
  // A "+" before the zone that was not percent-encoded arrives as a space, which no ISO 8601 text contains.
  const moment =
    timed === undefined
      ? parseIso8601(text.slice(at + 1).replaceAll(" ", "+"))
      : { firstMs: timed.endMs - 999, lastMs: timed.endMs };
  if (moment === undefined) throw invalidArgument({ field, description: FORMS });
  if (moment.firstMs > nowMs) throw invalidArgument({ field, description: "is a time that has not begun yet" });
  return { text, tag, digest: "", timeMs: moment.lastMs };
}

/** The digest that it names in the repo. Throws NOT_FOUND when the tag is not there, or was not then. */
export async function digestOf({ tx }: Pick<Call, "tx">, repo: string, reference: Reference): Promise<string> {
  const { tag, digest, timeMs } = reference;
  if (tag === "") return digest;
  const [found] = timeMs === undefined ? await selectNow(tx, repo, tag) : await selectThen(tx, repo, tag, timeMs);
  // A record without a digest says that the tag was deleted.
  if (found === undefined || found.digest === "") throw notFound("moorage.registry.v2.Tag", reference.text);
  return found.digest;
}
