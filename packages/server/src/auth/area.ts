import type { Area } from "../core/area.ts";
import { authBelow } from "./below.ts";
import { AUTH_CHECKS } from "./checks.ts";
import { AUTH_TABLES } from "./tables.ts";
import { resealKeys } from "./tokens/keys.ts";

export const authArea: Area = {
  name: "auth",
  tables: AUTH_TABLES,
  below: authBelow,
  checks: AUTH_CHECKS,
  reseal: resealKeys,
};
