import type { Area } from "../core/area.ts";
import { LIBRARY_TABLES } from "./tables.ts";

export const librariesArea: Area = { name: "libraries", tables: LIBRARY_TABLES };
