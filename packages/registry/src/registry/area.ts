import {
  ImagesService,
  PullsService,
  QuotasService,
  ReposService,
  SearchService,
  StorageService,
  UsageService,
} from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { REGISTRY_CHECKS } from "./checks.ts";
import { registryCommands } from "./commands.ts";
import { imagesService } from "./images.ts";
import { pullsService } from "./pulls/service.ts";
import { quotaMetrics } from "./quotas/metrics.ts";
import { endQuota } from "./quotas/end.ts";
import { quotasService } from "./quotas/service.ts";
import { reposService } from "./repos.ts";
import { searchService } from "./search/service.ts";
import { storageService } from "./storage/service.ts";
import { REGISTRY_TABLES } from "./tables.ts";
import { usageService } from "./usage/service.ts";
import { registryJobs } from "./jobs.ts";

export const registryArea: Area = {
  name: "registry",
  tables: REGISTRY_TABLES,
  below: { group: { hindrances: countedBelow({ repos: "repos" }), end: endQuota } },
  checks: REGISTRY_CHECKS,
  services: [
    served(ReposService, reposService),
    served(ImagesService, imagesService),
    served(SearchService, searchService),
    served(StorageService, storageService),
    served(QuotasService, quotasService),
    served(PullsService, pullsService),
    served(UsageService, usageService),
  ],
  commands: registryCommands,
  jobs: registryJobs,
  metrics: [quotaMetrics],
};
