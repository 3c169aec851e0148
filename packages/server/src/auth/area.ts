import type { Area } from "../core/area.ts";
import { AUTH_TABLES } from "./tables.ts";

export const authArea: Area = { name: "auth", tables: AUTH_TABLES };
