import { Capability } from "@moorage/api/messages";
import type { FieldViolation } from "@moorage/kernel/errors";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import type { Moment } from "@moorage/kernel/lib/iso8601";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import { selectArrays, statement } from "@moorage/kernel/store";
import { authorize, DENY_OTHER_AUDIENCES } from "../request.ts";
import type { Exchange } from "../request.ts";
import { rejected, RegistryError } from "../errors.ts";
import { pullableRepository } from "../names.ts";
import { send } from "../send.ts";

/** Source: docs/contract.md, "Limits". */
const MAX_RECORDS = 1000;

const RECORDS = `select time, digest from tag_history
  where repo = ? and tag = ? and digest <> '' and time >= ? and time <= ? order by time limit ${MAX_RECORDS}`;
const selectAny = statement("select 1 as one from tag_history where repo = ? and tag = ? and digest <> '' limit 1");

/**
 * GET /v2/<organization>/<image>/_service/history/<tag>: the digests that the tag came to point to, oldest first, at
 * most 1000, between the optional `start` and `end`, both included; a date as `end` includes its whole day. The history
 * of a deleted tag is answered too. 401 without a token, 403 for another audience or repository, 400 naming an invalid
 * parameter, 404 for an unknown image or tag. Source: docs/contract.md, "Tag history".
 */
export async function handleHistory(exchange: Exchange, { tag }: { tag: string }): Promise<void> {
  await authorize(exchange, ["pull"], DENY_OTHER_AUDIENCES);
  const { deps, name } = exchange;
  const { startMs, endMs } = readWindow(exchange.query);
  const found = await deps.transactor.read(exchange.callData, async (call) => {
    const repo = await pullableRepository(call, deps.config, name, { tag }, [Capability.CAP_TAG_LIST]);
    const records = await selectArrays(call.tx, RECORDS, [repo, tag, startMs, endMs], ["time", "digest"]);
    // A window without records is answered as an empty list, a tag that never existed with 404.
    if (records.length === 0 && (await selectAny(call.tx, repo, tag)).length === 0) {
      throw new RegistryError("MANIFEST_UNKNOWN", `Tag not found: ${tag}`, {
        details: { resource: { type: "moorage.registry.v2.Tag", name: tag } },
      });
    }
    return records as [time: number, digest: string][];
  });
  // Times and digests have no characters that JSON escapes.
  const history = found.map(([time, digest]) => `{"updateTimestamp":"${isoTime(time)}","digest":"${digest}"}`);
  send(exchange, 200, { "content-type": "application/json" }, `{"history":[${history.join(",")}]}`);
}

/** The window in milliseconds since 1970. Throws RANGE_INVALID 400 with all that is wrong with the query. */
function readWindow(query: URLSearchParams): { startMs: number; endMs: number } {
  const violations: FieldViolation[] = [];
  for (const key of new Set(query.keys())) {
    if (key !== "start" && key !== "end")
      violations.push({ field: key, description: "is not a parameter of the tag history" });
    else if (query.getAll(key).length > 1) violations.push({ field: key, description: "is given more than once" });
  }
  const start = readMoment(query, "start", violations);
  const end = readMoment(query, "end", violations);
  const startMs = start?.firstMs ?? Number.MIN_SAFE_INTEGER;
  const endMs = end?.lastMs ?? Number.MAX_SAFE_INTEGER;
  // For a time between two milliseconds `lastMs` is before `firstMs`; as both start and end it is a valid, empty
  // window.
  if (start && end && end.lastMs < Math.min(start.firstMs, start.lastMs))
    violations.push({ field: "end", description: "must not be before start" });
  if (violations.length > 0) throw rejected("RANGE_INVALID", ...violations);
  return { startMs, endMs };
}

function readMoment(query: URLSearchParams, field: string, violations: FieldViolation[]): Moment | undefined {
  const text = query.get(field);
  if (text === null || violations.some((violation) => violation.field === field)) return undefined;
  const moment = parseIso8601(text);
  if (!moment)
    violations.push({ field, description: "must be an ISO 8601 date or date-time, as 2026-01-02T03:04:05Z" });
  return moment;
}
