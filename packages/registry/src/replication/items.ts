import {
  type ListReplicationItemsRequest,
  ListReplicationItemsRequestSchema,
  type ReplicationItem,
} from "@moorage/api/messages";
import { openPosition, pagedBy, sealPosition } from "@moorage/kernel/aip/positions";
import type { Call } from "@moorage/kernel/core/call";
import { invalidArgument } from "@moorage/kernel/errors";
import { sql, type SqlBool } from "kysely";
import { itemMessage } from "./message.ts";

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 200;

/** A page of a replication's items, by repository and tag. Throws INVALID_ARGUMENT on page_size or page_token. */
export async function listItems(
  call: Call,
  key: Uint8Array,
  request: ListReplicationItemsRequest,
): Promise<{ items: ReplicationItem[]; nextPageToken: string }> {
  const { uid, states, pageSize, pageToken } = request;
  if (pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
  const size = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  const paged = pagedBy(ListReplicationItemsRequestSchema, request, "replication or states");
  const after = openPosition(call, key, paged, pageToken);
  let query = call.tx.selectFrom("replication_items").selectAll().where("replication", "=", uid);
  if (states.length > 0) query = query.where("state", "in", states);
  if (after !== undefined) {
    const [repository = "", tag = ""] = after;
    query = query.where(sql<SqlBool>`(repository, tag) > (${repository}, ${tag})`);
  }
  const rows = await query
    .orderBy("repository")
    .orderBy("tag")
    .limit(size + 1)
    .execute();
  const last = rows.length > size ? rows[size - 1] : undefined;
  return {
    items: rows.slice(0, size).map((row) => itemMessage(call, row)),
    nextPageToken: last === undefined ? "" : sealPosition(call, key, paged, [last.repository, last.tag]),
  };
}
