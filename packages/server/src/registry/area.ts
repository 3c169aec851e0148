import type { Area } from "../core/area.ts";
import { REGISTRY_TABLES } from "./tables.ts";

export const registryArea: Area = { name: "registry", tables: REGISTRY_TABLES };
