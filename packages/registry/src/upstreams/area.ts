import { RegistryUpstreamsService } from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { belowRepo } from "./below-repo.ts";
import { UPSTREAM_CHECKS } from "./checks.ts";
import { upstreamCommands } from "./commands.ts";
import { resealUpstreams } from "./credentials.ts";
import { followMetrics } from "./follow-metrics.ts";
import { registryUpstreamsService } from "./service.ts";
import { UPSTREAM_TABLES } from "./tables.ts";

export const upstreamsArea: Area = {
  name: "upstreams",
  tables: UPSTREAM_TABLES,
  below: {
    group: { hindrances: countedBelow({ registry_upstreams: "registry upstreams" }) },
    repo: belowRepo,
  },
  checks: UPSTREAM_CHECKS,
  reseal: resealUpstreams,
  services: [served(RegistryUpstreamsService, registryUpstreamsService)],
  commands: upstreamCommands,
  metrics: [followMetrics],
};
