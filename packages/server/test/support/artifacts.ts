import { randomBytes } from "node:crypto";
import { Ecosystem } from "@moorage/api";
import { semverKey } from "../../../kernel/src/lib/versions/index.ts";
import { addToAncestors, removeFromAncestors } from "../../../kernel/src/store/index.ts";
import { writeWords } from "../../../libraries/src/libraries/artifacts/words.ts";
import type { Platform } from "./platform.ts";

let made = 0;

/** Adds a library past its protocol, with as many versions, `1.0.0`, `1.0.1` and so on. */
export async function addArtifact(
  platform: Pick<Platform, "transact" | "clock">,
  parent: string,
  {
    name,
    description = "",
    ecosystem = Ecosystem.JAVASCRIPT,
    versions = 1,
  }: { name: string; description?: string; ecosystem?: Ecosystem; versions?: number },
): Promise<{ uid: string }> {
  const uid = `${parent}/${randomBytes(8).toString("hex")}`;
  const timeMs = platform.clock.nowMs() + (made += 1);
  const times = { create_time: timeMs, update_time: timeMs };
  await platform.transact(async (tx) => {
    await tx
      .insertInto("artifacts")
      .values({
        uid,
        parent,
        ecosystem,
        name,
        normalized: name,
        description,
        latest_version: `1.0.${versions - 1}`,
        version_count: versions,
        size_bytes: 0,
        revision: 1,
        state: "{}",
        ...times,
      })
      .execute();
    await addToAncestors(tx, `artifacts-${ecosystem}`, uid, name);
    await writeWords(tx, uid);
    for (let at = 0; at < versions; at++)
      await tx
        .insertInto("artifact_versions")
        .values({
          uid: `${uid}/${randomBytes(8).toString("hex")}`,
          parent: uid,
          version: `1.0.${at}`,
          sort_key: semverKey(`1.0.${at}`),
          description,
          size_bytes: 0,
          origin: 1,
          cuda: "",
          yanked: null,
          deprecated: null,
          metadata: "{}",
          publisher: "",
          publish_time: timeMs,
          ...times,
        })
        .execute();
  });
  return { uid };
}

/** Removes it again. */
export async function removeArtifact({ transact }: Pick<Platform, "transact">, uid: string): Promise<void> {
  await transact(async (tx) => {
    const row = await tx.selectFrom("artifacts").selectAll().where("uid", "=", uid).executeTakeFirstOrThrow();
    await removeFromAncestors(tx, `artifacts-${row.ecosystem}`, uid, row.name);
    await tx.deleteFrom("artifact_words").where("artifact", "=", uid).execute();
    await tx.deleteFrom("artifact_versions").where("parent", "=", uid).execute();
    await tx.deleteFrom("artifacts").where("uid", "=", uid).execute();
  });
}
