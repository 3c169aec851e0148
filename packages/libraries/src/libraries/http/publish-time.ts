import { Capability } from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { libraryError } from "./errors.ts";
import { requireOn } from "./groups.ts";

/** The right to say when something was published that comes from another registry. */
const IMPORT = Capability.CAP_TAG_IMPORT;
const HEADER = "Moorage-Publish-Time";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * When a version that moves in was published where it comes from, in milliseconds since 1970: the header that says so.
 * Undefined without one. Throws 400 for what is no time, and for times in the future and before 1970. Source: RFC 3339.
 */
export function publishTimeIn(header: string | string[] | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  const ms = TIME.test(text) ? parseIso8601(text)?.lastMs : undefined;
  if (ms === undefined) throw wrong("must be a time of RFC 3339, as 2026-01-31T12:00:00Z");
  if (ms > nowMs) throw wrong("must not be in the future");
  if (ms < 0) throw wrong("must not be before 1970: such a time stands for one that is not known");
  return ms;
}

/** Throws 403 for a caller who may not say when something was published in the group. */
export async function requireImporter(call: Call, group: string, path: string): Promise<void> {
  await requireOn(call, group, path, IMPORT);
}

function wrong(why: string): Error {
  return libraryError(400, `Invalid argument: ${HEADER}: ${why}`);
}
