import type { Area } from "../core/area.ts";
import { IAM_TABLES } from "./tables.ts";

export const iamArea: Area = { name: "iam", tables: IAM_TABLES };
