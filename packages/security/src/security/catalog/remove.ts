import { setTimeout as wait } from "node:timers/promises";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import type { Transactor } from "@moorage/kernel/core/transactor";
import { type Database, select, takeAdvisoryLock } from "@moorage/kernel/store";
import { deleteArchives } from "./archives.ts";
import { CATALOGING } from "./command-options.ts";
import { CATALOG_STATE, LAYERS, LAYERS_AGAIN } from "./rows.ts";

const PAGE = 100;
/** Packages of one image that one transaction removes. */
const MAX_ROWS = 10_000;
const PAUSE_MS = 20;

/**
 * Removes packages that the image has by the source, for a command that has locked the catalogs. Answers false when
 * some are left for another transaction.
 */
export async function deletePackages(tx: Database, digest: string, source: string): Promise<boolean> {
  const rows = await tx
    .selectFrom("image_packages")
    .select(["n", "package"])
    .where("digest", "=", digest)
    .where("source", "=", source)
    .orderBy("n")
    .limit(MAX_ROWS)
    .execute();
  const last = rows.at(-1);
  if (last !== undefined) {
    const before = tx.deleteFrom("image_packages").where("digest", "=", digest).where("source", "=", source);
    await before.where("n", "<=", last.n).execute();
    await removeUnused(tx, [...new Set(rows.map((row) => row.package))]);
  }
  return rows.length < MAX_ROWS;
}

/** Removes those of the packages that no image holds, with their findings. */
export async function removeUnused(tx: Database, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += PAGE) {
    const removed = await tx
      .deleteFrom("packages")
      .where("id", "in", ids.slice(at, at + PAGE))
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("image_packages as i").select("i.n").whereRef("i.package", "=", "packages.id"))),
      )
      .returning("id")
      .execute();
    if (removed.length === 0) continue;
    const gone = removed.map(({ id }) => id);
    await tx.deleteFrom("package_findings").where("package", "in", gone).execute();
    await tx.deleteFrom("package_keys").where("package", "in", gone).execute();
  }
}

/** Removes the catalog unless a repo holds the image. Answers `done: false` when some of it is left. */
export const removeCatalog = command(
  "security.removeCatalog",
  async ({ tx }: Call, { digest }: { digest: string }): Promise<{ done: boolean; removed: boolean }> => {
    await takeAdvisoryLock(tx, "catalogs");
    // Waits for a push of the image that is not committed yet, and lets later ones wait: they lock the same row.
    await tx
      .updateTable("image_catalogs")
      .set({ holder: "", hold_until: 0 })
      .where("digest", "=", digest)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("manifests as m").select("m.repo").whereRef("m.digest", "=", "image_catalogs.digest"))),
      )
      .execute();
    const held = await tx
      .selectFrom("manifests")
      .select("repo")
      .where("digest", "=", digest)
      .limit(1)
      .executeTakeFirst();
    if (held !== undefined) return { done: true, removed: false };
    for (const source of [LAYERS, LAYERS_AGAIN]) await deleteArchives(tx, digest, source);
    const done = (await deletePackages(tx, digest, LAYERS)) && (await deletePackages(tx, digest, LAYERS_AGAIN));
    const row = tx.updateTable("image_catalogs").set({ state: CATALOG_STATE.waiting }).where("digest", "=", digest);
    // An image that comes back before the rest is removed is read again.
    await (done ? tx.deleteFrom("image_catalogs").where("digest", "=", digest) : row).execute();
    return { done, removed: done };
  },
  CATALOGING,
);

/**
 * Removes the catalogs of images that no repo holds any longer, and packages that only these held. `signal` ends it
 * between two steps, and it rejects then.
 */
export async function removeUnusedCatalogs(
  { transactor, data }: { transactor: Transactor; data: CallData },
  signal: AbortSignal,
): Promise<{ catalogs: number }> {
  let catalogs = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    const from: string = after;
    signal.throwIfAborted();
    const rows = await transactor.read(data, (call) =>
      select<{ digest: string; unused: number }>(
        call.tx,
        `select c.digest, case when (select 1 from manifests as m where m.digest = c.digest limit 1) is null then 1 else 0 end as unused
         from image_catalogs as c where c.digest > ? order by c.digest limit ${PAGE}`,
        [from],
      ),
    );
    for (const { digest } of rows.filter(({ unused }) => unused === 1))
      for (let isDone = false; !isDone;) {
        signal.throwIfAborted();
        const { done, removed } = await transactor.write(removeCatalog, data, { digest });
        isDone = done;
        if (removed) catalogs += 1;
      }
    await wait(PAUSE_MS);
    after = rows.length < PAGE ? undefined : rows.at(-1)?.digest;
  }
  return { catalogs };
}
