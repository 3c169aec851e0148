import { SearchKind } from "@moorage/api/messages";
import { sql } from "kysely";
import { unindexed, within } from "@moorage/kernel/aip/scope";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { NEEDS, type Searched } from "./kinds.ts";

const DIGEST = /^(?:(sha256|sha512):)?([0-9a-f]{4,128})$/;
const ALGORITHMS = ["sha256", "sha512"];

/**
 * Manifests, by the first digits of their digest. Their index has few with the same four digits, so that these are
 * looked up and then restricted to the roots.
 */
export const searchedDigests: Searched = {
  kind: SearchKind.DIGEST,
  needs: NEEDS.manifest,
  rows: 200,
  weight: 1,
  fits: (query) => DIGEST.test(query),
  async look({ db, query, roots, paths }, [digest = "", repo = ""], wanted) {
    const [, algorithm, digits = ""] = DIGEST.exec(query) ?? [];
    const prefixes = (algorithm === undefined ? ALGORITHMS : [algorithm]).map((each) => `${each}:${digits}`);
    const limit = wanted + 1;
    const { rows } = await sql<{ digest: string; repo: string; create_time: number }>`
      select t.digest, t.repo, t.create_time from manifests as t
      where (${sql.join(
        // "g" follows every hexadecimal digit.
        prefixes.map((prefix) => sql`t.digest >= ${prefix} and t.digest < ${`${prefix}g`}`),
        sql` or `,
      )})
      and (t.digest, t.repo) > (${digest}, ${repo}) and ${within([...roots], unindexed(sql.ref("t.repo")))}
      order by t.digest, t.repo limit ${limit}`.execute(db);
    const names = await paths.ofUids(rows.map((row) => row.repo));
    const found = rows.slice(0, wanted).map((row) => ({
      result: {
        kind: SearchKind.DIGEST,
        repoUid: row.repo,
        name: names.get(row.repo) ?? "",
        digest: row.digest,
        updateTime: timestamp(row.create_time),
      },
      position: [row.digest, row.repo],
    }));
    return { found, last: rows.length < limit ? undefined : found.at(-1)?.position };
  },
};
