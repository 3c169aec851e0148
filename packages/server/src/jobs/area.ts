import type { Area } from "@moorage/kernel/core/area";
import { jobCommands } from "./leases.ts";
import { putVexReferrer } from "./put-vex-referrer.ts";
import { JOB_TABLES } from "./tables.ts";

export const jobsArea: Area = { name: "jobs", tables: JOB_TABLES, commands: [...jobCommands, putVexReferrer] };
