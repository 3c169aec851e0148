import type { Database } from "../../../kernel/src/store/index.ts";
import type { Platform } from "../../../server/test/support/platform.ts";

const DAY_MS = 86_400_000;

/** How many days before today a team's installation counts findings and pulls, and of which day it did not. */
const COUNTED_DAYS = 71;
const MISSED_DAY = 40;
const PULL_DAYS = 24;
const PULLED_BYTES = 30_000_000;
const pullsAgo = (ago: number): number => 400 + ((ago * 7_919) % 900);

const NOTHING = { critical: 0, high: 0, medium: 0, low: 0 };

const downloadsAgo = (at: number, ago: number): number => ((at + 2) * 131 + ago * 7_919) % 170;

const DOWNLOAD_DAYS = 60;

/** How many days before today a group's bytes are measured, of which day not, and how many they are. */
const MEASURED_DAYS = 22;
const UNMEASURED_DAY = 9;
const bytesAgo = (ago: number): number => 4_000_000_000 - ago * 60_000_000 - (ago % 5) * 20_000_000;

/**
 * Fills in what an installation has counted by day: open findings, pulls of a repo, downloads of packages, and what
 * groups take up.
 */
export async function fillDays(platform: Platform, repo: string): Promise<void> {
  const nowMs = platform.clock.nowMs();
  const today = Math.floor(nowMs / DAY_MS);
  const rest = { negligible: 0, none: 0, unknown: 0, unknown_images: 0, at_least: 0 };
  await platform.transact(async (tx) => {
    const groups = (await tx.selectFrom("groups").select("uid").execute()).map(({ uid }) => uid);
    for (let ago = 0; ago <= COUNTED_DAYS; ago++) {
      if (ago === MISSED_DAY) continue;
      const open = { critical: ago > 30 ? 4 : 2, high: 6 + (ago % 4), medium: 14 + Math.floor(ago / 6), low: 5 };
      const time = nowMs - ago * DAY_MS;
      for (const grp of groups)
        await tx
          .insertInto("finding_days")
          .values({ grp, day: today - ago, ...rest, ...(grp === platform.organization ? open : NOTHING), time })
          .execute();
    }
    for (let ago = 0; ago <= MEASURED_DAYS; ago++) {
      if (ago === UNMEASURED_DAY) continue;
      const measured = { bytes: bytesAgo(ago), at_least: 0, time: nowMs - ago * DAY_MS };
      for (const grp of groups)
        await tx
          .insertInto("usage_days")
          .values({ grp, day: today - ago, ...measured })
          .onConflict((conflict) => conflict.columns(["grp", "day"]).doUpdateSet(measured))
          .execute();
    }
    await tx.deleteFrom("pull_coverage").execute();
    await tx
      .insertInto("pull_coverage")
      .values({ id: 1, since: nowMs - PULL_DAYS * DAY_MS })
      .execute();
    for (let ago = 1; ago <= PULL_DAYS; ago++)
      await tx
        .insertInto("pull_days")
        .values({
          day: today - ago,
          repo,
          tag: "latest",
          digest: `sha256:${"0".repeat(64)}`,
          identity: "",
          count: pullsAgo(ago),
          bytes: pullsAgo(ago) * PULLED_BYTES,
          first_time: nowMs - ago * DAY_MS,
          last_time: nowMs - ago * DAY_MS,
        })
        .execute();
    await fillDownloads(tx, nowMs);
  });
}

/** Downloads of all packages and their versions, in each of the last 60 days. */
async function fillDownloads(tx: Database, nowMs: number): Promise<void> {
  const since = nowMs - DOWNLOAD_DAYS * DAY_MS;
  await tx.deleteFrom("download_coverage").execute();
  await tx.insertInto("download_coverage").values({ id: 1, since }).execute();
  const versions = await tx.selectFrom("artifact_versions").select(["uid", "parent"]).orderBy("version").execute();
  const last = new Map<string, string>();
  const days = new Map<string, Map<number, number>>();
  for (const [at, { uid, parent }] of versions.entries())
    for (let ago = 1; ago < DOWNLOAD_DAYS; ago++)
      for (const [item, artifact] of [
        [uid, parent],
        [parent, ""],
      ] as const) {
        const day = Math.floor(nowMs / DAY_MS) - ago;
        const counts = days.get(item) ?? new Map<number, number>();
        days.set(item, counts.set(day, (counts.get(day) ?? 0) + downloadsAgo(at, ago)));
        last.set(item, artifact);
      }
  for (const [item, counts] of days)
    for (const [day, count] of counts) await tx.insertInto("download_days").values({ item, day, count }).execute();
  for (const [item, artifact] of last)
    await tx
      .insertInto("last_downloads")
      .values({ item, artifact, time: nowMs - DAY_MS })
      .execute();
}
