import type { Area } from "@moorage/kernel/core/area";
import { mirrorCommands } from "./commands.ts";
import { deleteGoneTag } from "./gone-tags.ts";
import { belowRepo, resealMirrors } from "./rows.ts";
import { MIRRORING_TABLES } from "./tables.ts";
import { mirrorMetrics } from "./metrics.ts";
import { linkSharedBlob } from "./shared-content.ts";

export const mirroringArea: Area = {
  name: "mirroring",
  tables: MIRRORING_TABLES,
  below: { repo: belowRepo },
  reseal: resealMirrors,
  commands: [...mirrorCommands, linkSharedBlob, deleteGoneTag],
  metrics: [mirrorMetrics],
};
