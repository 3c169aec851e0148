import type { Area } from "@moorage/kernel/core/area";
import { processCommands } from "./commands.ts";
import { PROCESS_TABLES } from "./tables.ts";

export const processesArea: Area = {
  name: "processes",
  tables: PROCESS_TABLES,
  commands: processCommands,
};
