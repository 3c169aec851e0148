import type { Below } from "@moorage/kernel/core/call";

/** What is noted of a repo that came from a registry goes with it. */
export const belowRepo: NonNullable<Below["repo"]> = {
  async end({ tx }, repo) {
    for (const table of ["upstream_tags", "upstream_sightings", "upstream_digests", "upstream_repos"] as const)
      await tx.deleteFrom(table).where("repo", "=", repo).execute();
  },
};
