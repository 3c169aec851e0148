import {
  Capability,
  type ListTagMovesRequest,
  ListTagMovesRequestSchema,
  type ListTagMovesResponseSchema,
  type TagMoveSchema,
} from "@moorage/api/messages";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { milliseconds, timestamp } from "@moorage/kernel/lib/timestamps";
import { statement } from "@moorage/kernel/store";
import { repos } from "./repos.ts";
import { BY_SYSTEM } from "./tag-events.ts";

// Moves are small, and a long history is read whole to be drawn: hence more than the 200 of other lists.
const MAX_PAGE_SIZE = 1_000;

interface Row {
  time: number;
  digest: string;
  actor: string;
  reason: string;
  source: string;
}

const selectMoves = statement<Row>(
  "select time, digest, actor, reason, source from tag_history where repo = ? and tag = ? and time < ? order by time desc limit ?",
);

/**
 * A page of what the tag of that name came to point to, newest first. Throws INVALID_ARGUMENT naming the fields that
 * are wrong, such as a page token of another list, and NOT_FOUND when the repo does not exist.
 */
export async function listTagMoves(
  call: Call,
  pageTokenKey: Uint8Array,
  request: ListTagMovesRequest,
): Promise<MessageInitShape<typeof ListTagMovesResponseSchema>> {
  const { repoUid, tag, since, before, pageSize, pageToken } = request;
  const violations = [
    ...violationsOf(ListTagMovesRequestSchema, request),
    ...(pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
  ];
  if (violations.length > 0) throw invalidArgument(...violations);
  const sinceMs = since === undefined ? Number.MIN_SAFE_INTEGER : milliseconds(since);
  const beforeMs = before === undefined ? Number.MAX_SAFE_INTEGER : milliseconds(before);
  const paged = pagedBy(ListTagMovesRequestSchema, request, "repo_uid, tag, since or before");
  const fromMs = Number(openPosition(call, pageTokenKey, paged, pageToken)?.[0] ?? beforeMs);
  const size = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  await repos.get(call.tx, repoUid);
  const isNamed = await call.may(Capability.CAP_EVENTS_LIST, repoUid);
  // One record more than the page has says whether there are more, and what the last move's tag pointed to before.
  const rows = await selectMoves(call.tx, repoUid, tag, fromMs, size + 1);
  const isInside = (row: Row | undefined): boolean => row !== undefined && Number(row.time) >= sinceMs;
  const moves = rows.slice(0, size).filter(isInside);
  const last = isInside(rows[size]) ? moves.at(-1) : undefined;
  return {
    moves: moves.map((row, at) => moveOf(row, rows[at + 1], isNamed)),
    nextPageToken: last === undefined ? "" : sealPosition(call, pageTokenKey, paged, [Number(last.time)]),
  };
}

function moveOf(
  { time, digest, actor, reason, source }: Row,
  older: Row | undefined,
  isNamed: boolean,
): MessageInitShape<typeof TagMoveSchema> {
  return {
    time: timestamp(Number(time)),
    digest,
    previousDigest: older?.digest ?? "",
    reason,
    actor: isNamed && !BY_SYSTEM.has(reason) ? actor : "",
    source: isNamed ? source : "",
  };
}
