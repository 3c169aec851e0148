import { setImmediate } from "node:timers/promises";
import type { Call } from "@moorage/kernel/core/call";
import { type Row, statement } from "@moorage/kernel/store";

/** How many rows are read in one step. */
const PAGE = 1000;

const selectTags = statement<Row<"tags">>(
  `select * from tags where parent = ? and name > ? order by name limit ${PAGE}`,
  ["text", "text"],
);

/** The rows of all tags of a repo by name, some at a time. Throws ABORTED when the caller leaves. */
export async function* tagPages(call: Call, repo: string): AsyncGenerator<Row<"tags">[], void, undefined> {
  for (let after: string | undefined = ""; after !== undefined;) {
    const rows: Row<"tags">[] = await selectTags(call.tx, repo, after);
    if (rows.length > 0) yield rows;
    after = (await next(call, rows))?.name;
  }
}

/** A record of a tag's history: from that time on, in milliseconds since 1970, it pointed to the digest. */
export interface TagRecord {
  time: number;
  digest: string;
}

const selectRecords = statement<TagRecord>(
  `select time, digest from tag_history where repo = ? and tag = ? and digest <> '' and time >= ? and time <= ?
    order by time limit ${PAGE}`,
);

/**
 * The digests that the tag of that name came to point to in the window, whose ends belong to it, oldest first, some at
 * a time. Throws ABORTED when the caller leaves. Source: docs/contract.md, "Tag history".
 */
export async function* historyPages(
  call: Call,
  { repo, tag }: { repo: string; tag: string },
  { startMs, endMs }: { startMs: number; endMs: number },
): AsyncGenerator<TagRecord[], void, undefined> {
  for (let from: number | undefined = startMs; from !== undefined;) {
    const rows: TagRecord[] = await selectRecords(call.tx, repo, tag, from, endMs);
    if (rows.length > 0) yield rows;
    const last: TagRecord | undefined = await next(call, rows);
    // The times of a tag's records strictly increase.
    from = last && Number(last.time) + 1;
  }
}

/** The last row of a full page, after which there may be more. */
async function next<R>(call: Call, rows: readonly R[]): Promise<R | undefined> {
  if (rows.length < PAGE) return undefined;
  // SQLite answers synchronously: other requests have their turn.
  await setImmediate();
  call.requireCaller();
  return rows.at(-1);
}
