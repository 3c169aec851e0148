import type { Area } from "../core/area.ts";
import { AUDIT_TABLES } from "./tables.ts";
import { auditCommands } from "./commands.ts";

export const auditArea: Area = {
  name: "audit",
  tables: AUDIT_TABLES,
  commands: auditCommands,
};
