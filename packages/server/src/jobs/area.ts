import type { Area } from "@moorage/kernel/core/area";
import { JOB_TABLES } from "./tables.ts";

export const jobsArea: Area = { name: "jobs", tables: JOB_TABLES };
