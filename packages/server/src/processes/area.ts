import type { Area } from "../core/area.ts";
import { PROCESS_TABLES } from "./tables.ts";

export const processesArea: Area = { name: "processes", tables: PROCESS_TABLES };
