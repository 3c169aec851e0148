import type { Area } from "../core/area.ts";
import { EVENT_TABLES } from "./tables.ts";

export const eventsArea: Area = { name: "events", tables: EVENT_TABLES };
