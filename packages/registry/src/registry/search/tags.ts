import { SearchKind } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import { NEEDS, type Searched } from "./kinds.ts";
import { type Ranged, rowsAfter } from "./ranges.ts";

const ROWS = 5_000;
// The index tags_parent has both columns, so that only what matches is read from the table.
const TAGS: Ranged = { table: "tags", columns: "parent, name", key: ["parent", "name"] };

type Tag = Pick<Row<"tags">, "uid" | "digest" | "update_time">;
const selectTag = statement<Tag>("select uid, digest, update_time from tags where parent = ? and name = ?");

/** Tags, by a part of their name. */
export const searchedTags: Searched = {
  kind: SearchKind.TAG,
  needs: NEEDS.tag,
  rows: ROWS,
  weight: 1,
  // Tags have no other characters.
  fits: (query) => /^[a-z0-9._-]+$/.test(query),
  async look({ db, query, roots, paths }, after, wanted) {
    const rows = await rowsAfter<{ parent: string; name: string }>(db, TAGS, roots, after, ROWS);
    const matching = rows.filter(({ name }) => name.toLowerCase().includes(query)).slice(0, wanted);
    const names = await paths.ofUids(matching.map(({ parent }) => parent));
    const last = rows.at(-1);
    return {
      found: (await Promise.all(matching.map((each) => tagOf(db, each)))).map(({ parent, name, tag }) => ({
        result: {
          kind: SearchKind.TAG,
          repoUid: parent,
          name: names.get(parent) ?? "",
          tag: name,
          tagUid: tag?.uid ?? "",
          digest: tag?.digest ?? "",
          updateTime: timestamp(tag?.update_time ?? 0),
        },
        position: [parent, name],
      })),
      last: rows.length < ROWS || last === undefined ? undefined : [last.parent, last.name],
    };
  },
};

async function tagOf(db: Database, { parent, name }: { parent: string; name: string }) {
  const [tag] = await selectTag(db, parent, name);
  return { parent, name, tag };
}
