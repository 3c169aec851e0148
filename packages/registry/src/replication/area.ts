import { ReplicationsService } from "@moorage/api/messages";
import { countedBelow } from "@moorage/kernel/aip/resource";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { REPLICATION_CHECKS } from "./checks.ts";
import { replicationCommands } from "./commands.ts";
import { resealReplications } from "./credentials.ts";
import { replicationsService } from "./service.ts";
import { replicationMetrics } from "./metrics.ts";
import { REPLICATION_TABLES } from "./tables.ts";

export const replicationArea: Area = {
  name: "replication",
  tables: REPLICATION_TABLES,
  below: { group: { hindrances: countedBelow({ replications: "replications" }) } },
  checks: REPLICATION_CHECKS,
  reseal: resealReplications,
  commands: replicationCommands,
  metrics: [replicationMetrics],
  services: [served(ReplicationsService, replicationsService)],
};
