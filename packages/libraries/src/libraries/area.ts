import {
  ArtifactsService,
  UpstreamsService,
  ArtifactPoliciesService,
  BlocksService,
  DownloadsService,
  LibraryFindingsService,
} from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { artifactsService } from "./artifacts/service.ts";
import { blocksService } from "./blocks/service.ts";
import { LIBRARY_CHECKS } from "./checks.ts";
import { libraryCommands } from "./commands.ts";
import { ecosystemsWith } from "./ecosystems.ts";
import { downloadMetrics } from "./downloads/metrics.ts";
import { downloadsService } from "./downloads/service.ts";
import { libraryFindingsService } from "./findings/service.ts";
import { artifactPoliciesService } from "./policies/service.ts";
import { LIBRARY_TABLES } from "./tables.ts";
import { resealUpstreams } from "./upstreams/credentials.ts";
import { upstreamsService } from "./upstreams/service.ts";
import { blockMetrics } from "./blocks/metrics.ts";
import { libraryJobs } from "./jobs.ts";
import { libraryMetrics } from "./upstreams/metrics.ts";

export const librariesArea: Area = {
  name: "libraries",
  tables: LIBRARY_TABLES,
  below: {
    group: {
      hindrances: countedBelow({
        artifacts: "libraries",
        upstreams: "upstreams",
        artifact_policies: "policies of libraries",
      }),
      // What was removed from the group, and what was blocked there.
      async end({ tx }, group) {
        for (const table of ["removed_versions", "artifact_blocks"] as const)
          await tx.deleteFrom(table).where("parent", "=", group).execute();
      },
    },
  },
  checks: LIBRARY_CHECKS,
  reseal: resealUpstreams,
  services: [
    served(ArtifactsService, (context) => artifactsService(context, ecosystemsWith(context.ecosystems ?? []))),
    served(UpstreamsService, upstreamsService),
    served(ArtifactPoliciesService, artifactPoliciesService),
    served(BlocksService, blocksService),
    served(DownloadsService, downloadsService),
    served(LibraryFindingsService, libraryFindingsService),
  ],
  commands: libraryCommands,
  jobs: libraryJobs,
  metrics: [blockMetrics, downloadMetrics, libraryMetrics],
};
