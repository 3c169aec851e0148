import { QuotaState } from "@moorage/api/messages";
import { type Database, type Row, select } from "@moorage/kernel/store";
import { BEGINNING, type ContentKind, COUNTED, endOf, nextAfter, positionOf } from "./positions.ts";

interface CountedRow {
  place: string;
  digest: string;
  size: number;
}

/** How many rows one transaction counts. */
const STEP = 1_000;
const CHUNK = 200;

// Each in the order of positions. All files of an artifact are counted together: an artifact is never cut.
const SELECT: Readonly<Record<ContentKind, string>> = {
  blob: `select l.repo as place, l.digest, b.size from repo_blobs as l join blobs as b on b.digest = l.digest
    where l.repo >= ? and l.repo < ? and (l.repo > ? or (l.repo = ? and l.digest > ?)) order by l.repo, l.digest limit ${STEP}`,
  manifest: `select repo as place, digest, size from manifests
    where repo >= ? and repo < ? and (repo > ? or (repo = ? and digest > ?)) order by repo, digest limit ${STEP}`,
  file: `select f.artifact as place, f.digest, f.size from artifact_files as f where f.artifact in (
      select uid from artifacts where uid >= ? and uid < ? and (uid > ? or (uid = ? and '' > ?)) order by uid limit 50)
    order by f.artifact`,
};
const NEXT_ARTIFACTS =
  "select max(uid) as last from (select uid from artifacts where uid >= ? and uid < ? and uid > ? order by uid limit 50) as a";

/** Counts the next part of what a quota's group has. Answers the row as it is then. */
export async function countStep(tx: Database, quota: Row<"quotas">): Promise<Row<"quotas">> {
  const next = nextAfter(quota.counted_to);
  if (next === undefined) return quota;
  const { kind, place, digest } = next;
  const [from, to] = [`${quota.uid}/`, `${quota.uid}0`];
  const rows = await select<CountedRow>(tx, SELECT[kind], [from, to, place, place, digest]);
  const bytes = await addRows(tx, quota.uid, rows);
  const last = rows.at(-1);
  const counted_to = await endedAt(tx, kind, { from, to, place, last, isFull: rows.length === STEP });
  const changes = { used_bytes: quota.used_bytes + bytes, counted_to };
  await tx.updateTable("quotas").set(changes).where("uid", "=", quota.uid).execute();
  return { ...quota, ...changes };
}

async function endedAt(
  tx: Database,
  kind: ContentKind,
  at: { from: string; to: string; place: string; last: CountedRow | undefined; isFull: boolean },
): Promise<string> {
  if (kind !== "file")
    return at.isFull && at.last !== undefined ? positionOf(kind, at.last.place, at.last.digest) : endOf(kind);
  // Artifacts without files are passed over, too.
  const [artifacts] = await select<{ last: string | null }>(tx, NEXT_ARTIFACTS, [at.from, at.to, at.place]);
  return typeof artifacts?.last === "string" ? positionOf(kind, artifacts.last, "") : COUNTED;
}

/** Adds the rows to the references of the quota. Answers the bytes of the content that it did not have. */
async function addRows(tx: Database, quota: string, rows: readonly CountedRow[]): Promise<number> {
  const found = new Map<string, { size: number; n: number }>();
  for (const { digest, size } of rows) {
    const one = found.get(digest) ?? { size: Number(size), n: 0 };
    one.n += 1;
    found.set(digest, one);
  }
  const digests = [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));
  let bytes = 0;
  for (let at = 0; at < digests.length; at += CHUNK) {
    const chunk = digests.slice(at, at + CHUNK);
    const written = await select<{ digest: string; n: number }>(
      tx,
      `insert into quota_refs (quota, digest, size, n) values ${chunk.map(() => "(?, ?, ?, ?)").join(", ")}
        on conflict (quota, digest) do update set n = quota_refs.n + excluded.n returning digest, n`,
      chunk.flatMap(([digest, { size, n }]) => [quota, digest, size, n]),
    );
    for (const { digest, n } of written) {
      const one = found.get(digest);
      if (one !== undefined && Number(n) === one.n) bytes += one.size;
    }
  }
  return bytes;
}

/** Begins to count from the beginning: what was counted before is forgotten. */
export async function countAnew(tx: Database, quota: string): Promise<void> {
  await tx.deleteFrom("quota_refs").where("quota", "=", quota).execute();
  await tx
    .updateTable("quotas")
    .set({ used_bytes: 0, counted_to: BEGINNING, state: QuotaState.COUNTING })
    .where("uid", "=", quota)
    .execute();
}
