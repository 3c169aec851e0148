import type { Below } from "@moorage/kernel/core/call";
import type { Secrets } from "@moorage/kernel/lib/secrets";
import type { Database } from "@moorage/kernel/store";
import { passwordPlace } from "../registry/index.ts";

/** The row of a repo with a source follows the repo. */
export const belowRepo: NonNullable<Below["repo"]> = {
  async end({ tx }, repo) {
    await tx.deleteFrom("mirrors").where("repo", "=", repo).execute();
  },
  async follow({ tx, wake }, repo, mirror) {
    if (mirror === undefined) {
      await tx.deleteFrom("mirrors").where("repo", "=", repo).execute();
      return;
    }
    await tx
      .insertInto("mirrors")
      .values({ ...mirror, repo })
      .onConflict((on) => on.column("repo").doUpdateSet(mirror))
      .execute();
    wake("mirrors");
  },
  async sync({ tx, wake }, repo, { next_time, state }) {
    await tx.updateTable("mirrors").set({ next_time, state }).where("repo", "=", repo).execute();
    wake("mirrors");
  },
};

/** Seals passwords again that are sealed with an older key. */
export async function resealMirrors(tx: Database, secrets: Secrets): Promise<void> {
  for (const { repo, password } of await tx
    .selectFrom("mirrors")
    .select(["repo", "password"])
    .where("password", "!=", "")
    .execute()) {
    if (secrets.isCurrent(password)) continue;
    const sealed = secrets.seal(secrets.open(password, passwordPlace(repo)), passwordPlace(repo));
    await tx.updateTable("mirrors").set({ password: sealed }).where("repo", "=", repo).execute();
  }
}
