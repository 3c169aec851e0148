import { randomUUID } from "node:crypto";
import type { Call } from "@moorage/kernel/core/call";
import { command } from "@moorage/kernel/core/command";
import { isWithin } from "@moorage/kernel/lib/uid";
import { select, takeAdvisoryLock } from "@moorage/kernel/store";
import { CATALOGING } from "../catalog/command-options.ts";
import { affectedBy } from "../packages/candidates.ts";
import { type FindingCause, notePackageChanges } from "../causes/causes.ts";
import type { ImageName } from "../images/images.ts";
import { marks } from "../marks.ts";
import { statedImages } from "./stated-images.ts";

// Digests and causes that one transaction goes through.
const BATCH_DIGESTS = 500;
const BATCH_CAUSES = 100;
// Rows per statement, below the parameter limit of every engine.
const ROWS = 300;

/**
 * Looks up which images the next causes are about; their findings are compared next with what was emitted of them (see
 * emitNotices). Answers false when there is no cause. A cause of many images goes on from `position` in another
 * transaction.
 */
export const findImages = command(
  "security.findImages",
  async (call: Call): Promise<{ found: boolean }> => {
    const { tx } = call;
    await takeAdvisoryLock(tx, "catalogs");
    const causes = (await tx
      .selectFrom("finding_causes")
      .selectAll()
      .orderBy("create_time")
      .orderBy("id")
      .limit(BATCH_CAUSES)
      .execute()) as FindingCause[];
    let left = BATCH_DIGESTS;
    for (const cause of causes) {
      if (left <= 0) break;
      const { images, digests, position } = await nextImages(call, cause, left);
      left -= Math.max(1, digests);
      await addChecks(call, images);
      await (
        position === undefined
          ? tx.deleteFrom("finding_causes").where("id", "=", cause.id)
          : tx.updateTable("finding_causes").set({ position }).where("id", "=", cause.id)
      ).execute();
    }
    return { found: causes.length > 0 };
  },
  CATALOGING,
);

interface Found {
  images: ImageName[];
  /** How many were looked at. */
  digests: number;
  /** Where to go on; undefined when the cause is done. */
  position?: string;
}

async function nextImages(call: Call, cause: FindingCause, limit: number): Promise<Found> {
  const { tx } = call;
  const { kind, subject, scope, position } = cause;
  if (kind === "statement") return await statedImages(call, cause, limit);
  if (kind === "advisory") {
    const packages = await affectedBy(tx, JSON.parse(subject) as string[]);
    await notePackageChanges(call, packages, scope);
    return { images: [], digests: packages.size };
  }
  if (kind === "image") {
    const rows = await select<ImageName>(
      tx,
      `select m.repo, m.digest from manifests as m where m.digest = ?
       union select r.repo, r.target as digest from manifest_references as r where r.digest = ? and r.kind = 'manifest'`,
      [subject, subject],
    );
    return { images: rows.filter(({ repo }) => scope === "" || isWithin(repo, scope)), digests: rows.length };
  }
  const digests = await select<{ digest: string }>(
    tx,
    "select distinct digest from image_packages where package = ? and digest > ? order by digest limit ?",
    [subject, position, limit],
  );
  const images: ImageName[] = [];
  for (let at = 0; at < digests.length; at += ROWS) {
    const some = digests.slice(at, at + ROWS).map(({ digest }) => digest);
    const rows = await select<ImageName>(
      tx,
      `select repo, digest from manifests where digest in (${marks(some)})`,
      some,
    );
    images.push(...rows.filter(({ repo }) => scope === "" || isWithin(repo, scope)));
  }
  const last = digests.length < limit ? undefined : digests.at(-1)?.digest;
  return { images, digests: digests.length, ...(last !== undefined && { position: last }) };
}

/**
 * Each image is there once. One that waits already gets another mark, so that whoever looks at it just now does not end
 * its wait.
 */
async function addChecks({ tx, nowMs }: Call, images: readonly ImageName[]): Promise<void> {
  const mark = randomUUID();
  for (let at = 0; at < images.length; at += ROWS)
    await tx
      .insertInto("finding_checks")
      .values(images.slice(at, at + ROWS).map(({ repo, digest }) => ({ digest, repo, mark, create_time: nowMs })))
      .onConflict((conflict) => conflict.columns(["digest", "repo"]).doUpdateSet({ mark }))
      .execute();
}
