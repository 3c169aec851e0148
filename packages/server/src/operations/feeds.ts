import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  FeedProblem_Kind,
  type FeedPresetSchema,
  type FeedProblemSchema,
  type FeedSchema,
  type FeedStatementSchema,
} from "@moorage/api/messages";
import type { Call } from "@moorage/kernel/core/call";
import { notFound } from "@moorage/kernel/errors";
import { duration, timestamp } from "@moorage/kernel/lib/timestamps";
import {
  coveredIn,
  doesCover,
  FEED_PRESETS,
  feedDueMs,
  isFeedOverdue,
  presetAddress,
} from "@moorage/security/security";
import type { Row } from "@moorage/kernel/store";

const MAX_PROBLEMS = 2_000;

/** A feed as the API answers it. `statements`: those that are about nothing here, if they are asked for. */
export function feedMessage(
  { nowMs }: Pick<Call, "nowMs">,
  row: Row<"feeds">,
  statements: MessageInitShape<typeof FeedStatementSchema>[] = [],
): MessageInitShape<typeof FeedSchema> {
  const dueMs = feedDueMs(row);
  const covered = coveredIn(row.coverage);
  const { name, format, licence, address, error } = row;
  return {
    name,
    format,
    licence,
    address,
    error,
    records: BigInt(row.records),
    withdrawn: BigInt(row.withdrawn),
    problems: BigInt(row.problems),
    statements: BigInt(row.statements),
    statementsUnmatched: BigInt(row.statements_unmatched),
    unmatchedStatements: statements,
    unmatched: BigInt(row.unmatched ?? 0),
    coverage: (covered ?? []).map((each) => ({
      ...each,
      records: BigInt(each.records),
      isCovered: each.isMatched && doesCover(row, each.space),
    })),
    covers: JSON.parse(row.covers) as string[],
    coverageKnown: covered !== undefined,
    interval: duration(row.interval_ms),
    isOverdue: isFeedOverdue(row, nowMs),
    products: JSON.parse(row.products) as string[],
    fromFile: row.origin === "file",
    createTime: timestamp(row.create_time),
    ...(row.request_time !== null && { requestTime: timestamp(row.request_time) }),
    ...(row.delete_time !== null && { deleteTime: timestamp(row.delete_time) }),
    ...(dueMs !== undefined && { dueTime: timestamp(dueMs === 0 ? row.create_time : dueMs) }),
    ...(row.success_time !== null && { successTime: timestamp(row.success_time) }),
    ...(row.attempt_time !== null && { attemptTime: timestamp(row.attempt_time) }),
  };
}

/** The stored problems of a feed, or of all with an empty name. Throws NOT_FOUND. */
export async function feedProblems({ tx }: Call, feed: string): Promise<MessageInitShape<typeof FeedProblemSchema>[]> {
  if (feed !== "") {
    const row = await tx.selectFrom("feeds").select("name").where("name", "=", feed).executeTakeFirst();
    if (row === undefined) throw notFound("moorage.operations.v2.Feed", feed);
  }
  const all = tx.selectFrom("feed_problems").selectAll().orderBy("feed").orderBy("n").limit(MAX_PROBLEMS);
  const rows = await (feed === "" ? all : all.where("feed", "=", feed)).execute();
  return rows.map(({ kind, feed: of, record, position, message }) => ({
    feed: of,
    kind: kind === "UNMATCHED" ? FeedProblem_Kind.UNMATCHED : FeedProblem_Kind.UNREADABLE,
    record,
    position,
    message,
  }));
}

/** The presets, with whether they are added. `mirror`: the setting MOORAGE_FEEDS_MIRROR. */
export async function feedPresets({ tx }: Call, mirror: string): Promise<MessageInitShape<typeof FeedPresetSchema>[]> {
  const rows = await tx.selectFrom("feeds").select("name").execute();
  const added = new Set(rows.map(({ name }) => name));
  return FEED_PRESETS.map((preset) => {
    const { name, title, format, licence, covers, ecosystems } = preset;
    return {
      name,
      title,
      format,
      licence,
      covers,
      ecosystems: [...ecosystems],
      address: presetAddress(preset, mirror),
      interval: duration(preset.intervalMs),
      isAdded: added.has(name),
    };
  });
}
