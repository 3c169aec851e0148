import type { Area } from "../core/area.ts";
import { belowRepo, resealMirrors } from "./rows.ts";
import { MIRRORING_TABLES } from "./tables.ts";

export const mirroringArea: Area = {
  name: "mirroring",
  tables: MIRRORING_TABLES,
  below: { repo: belowRepo },
  reseal: resealMirrors,
};
