import type { Area } from "@moorage/kernel/core/area";
import { removeRepoContent } from "../registry/index.ts";
import { OCI_CHECKS } from "./checks.ts";
import { ociCommands } from "./commands.ts";
import { OCI_TABLES } from "./tables.ts";
import { evictionMetrics } from "./gc/eviction-metrics.ts";
import { gcMetrics } from "./gc/metrics.ts";
import { ociJobs } from "./jobs.ts";
import { pullMetrics } from "./records/metrics.ts";

export const ociArea: Area = {
  name: "oci",
  tables: OCI_TABLES,
  below: {
    repo: {
      // The blobs themselves stay until they are collected: other repos may use them.
      async end({ tx }, repo) {
        await removeRepoContent(tx, repo);
        for (const table of ["manifest_references", "manifests", "repo_blobs", "uploads"] as const)
          await tx.deleteFrom(table).where("repo", "=", repo).execute();
      },
    },
  },
  checks: OCI_CHECKS,
  commands: ociCommands,
  jobs: ociJobs,
  metrics: [gcMetrics, evictionMetrics, pullMetrics],
};
