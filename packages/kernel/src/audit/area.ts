import type { Area } from "../core/area.ts";
import { auditCommands } from "./commands.ts";
import { AUDIT_TABLES } from "./tables.ts";
import { auditJobs } from "./jobs.ts";

export const auditArea: Area = {
  name: "audit",
  tables: AUDIT_TABLES,
  commands: auditCommands,
  jobs: auditJobs,
};
