import { setImmediate } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type GroupStorageSchema, ListStorageRequestSchema, StorageService } from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { openPosition, sealPosition } from "@moorage/kernel/aip/positions";
import { scopeOf } from "@moorage/kernel/aip/scope";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { type CountedGroup, storageOf } from "./rows.ts";

const LIST = ListStorageRequestSchema.typeName;
const NEEDS = neededFor(StorageService.method.listStorage);
const DEFAULT_SIZE = 10;
const MAX_SIZE = 50;
/** A page ends after the row in which it has read so many links and manifests. */
const ROWS_PER_PAGE = 200_000;

/** What takes up space, by group. */
export function storageService({ pageTokenKey }: ServiceContext): Service<typeof StorageService> {
  return {
    async listStorage(call, { uidp, pageSize, pageToken }) {
      if (
        uidp !== undefined &&
        (uidp.ancestorsOf !== "" || uidp.childrenOf !== "" || uidp.inRoot || uidp.ids.length > 0)
      )
        throw invalidArgument({ field: "uidp", description: "only descendants_of is taken here" });
      if (pageSize < 0) throw invalidArgument({ field: "page_size", description: "must not be negative" });
      const size = Math.min(pageSize || DEFAULT_SIZE, MAX_SIZE);
      const above = uidp?.descendantsOf ?? "";
      const paged = { list: LIST, request: above, fields: "uidp" };
      const after = String(openPosition(call, pageTokenKey, paged, pageToken)?.[0] ?? "");
      const { roots } = scopeOf(uidp, await call.visible(...NEEDS));
      const groups = await countedGroups(call, above, roots, after, size + 1);
      const storage: MessageInitShape<typeof GroupStorageSchema>[] = [];
      let rows = 0;
      for (const group of groups.slice(0, size)) {
        if (rows >= ROWS_PER_PAGE) break;
        const { storage: found, looked } = await storageOf(call.tx, group);
        storage.push(found);
        rows += looked;
        // SQLite answers without a pause: other calls get their turn here.
        await setImmediate();
        call.requireCaller();
      }
      const last = groups[storage.length - 1];
      if (last === undefined || storage.length === groups.length) return { storage };
      return { storage, nextPageToken: sealPosition(call, pageTokenKey, paged, [last.uid]) };
    },
  };
}

/** The first groups after a uid: the named one's own repos and those directly below it, or the roots. */
async function countedGroups(
  { tx }: Call,
  above: string,
  roots: readonly string[],
  after: string,
  limit: number,
): Promise<CountedGroup[]> {
  const named = above !== "" && roots.length === 1 && roots[0] === above;
  const uids = named
    ? [above]
    : roots
        .filter((uid) => uid > after)
        .toSorted()
        .slice(0, limit);
  if (uids.length === 0) return [];
  const found = await tx
    .selectFrom("groups")
    .select(["uid", "name"])
    .where("uid", "in", uids)
    .where("uid", ">", after)
    .orderBy("uid")
    .execute();
  if (!named) return found.map((group) => ({ ...group, own: false }));
  const below = await tx
    .selectFrom("groups")
    .select(["uid", "name"])
    .where("parent", "=", above)
    .where("uid", ">", after)
    .orderBy("uid")
    .limit(limit)
    .execute();
  return [
    ...found.map((group) => ({ ...group, own: true, within: above })),
    ...below.map((group) => ({ ...group, own: false, within: above })),
  ].slice(0, limit);
}
