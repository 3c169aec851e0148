import { SearchKind } from "@moorage/api/messages";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { NEEDS, type Searched } from "./kinds.ts";
import { type Ranged, rowsAfter } from "./ranges.ts";

const ROWS = 5_000;
const REPOS: Ranged = { table: "repos", columns: "uid, name, update_time", key: ["uid"] };

/** Repos, by a part of the path of their image. */
export const searchedRepos: Searched = {
  kind: SearchKind.REPO,
  needs: NEEDS.repo,
  rows: ROWS,
  weight: 1,
  fits: () => true,
  async look({ db, query, roots, paths }, after) {
    const rows = await rowsAfter<{ uid: string; name: string; update_time: number }>(db, REPOS, roots, after, ROWS);
    const names = await paths.of(rows);
    const last = rows.at(-1);
    return {
      found: rows
        .filter(({ uid }) => names.get(uid)?.toLowerCase().includes(query) === true)
        .map(({ uid, update_time: updateMs }) => ({
          result: { kind: SearchKind.REPO, repoUid: uid, name: names.get(uid) ?? "", updateTime: timestamp(updateMs) },
          position: [uid],
        })),
      last: rows.length < ROWS || last === undefined ? undefined : [last.uid],
    };
  },
};
