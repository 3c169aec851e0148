import type { Area } from "@moorage/kernel/core/area";
import { PROCESS_TABLES } from "./tables.ts";
import { processCommands } from "./commands.ts";

export const processesArea: Area = {
  name: "processes",
  tables: PROCESS_TABLES,
  commands: processCommands,
};
