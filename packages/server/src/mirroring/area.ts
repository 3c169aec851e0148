import type { Area } from "../core/area.ts";
import { MIRRORING_TABLES } from "./tables.ts";

export const mirroringArea: Area = { name: "mirroring", tables: MIRRORING_TABLES };
