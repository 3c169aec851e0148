import type { Area } from "../core/area.ts";
import { OCI_TABLES } from "./tables.ts";

export const ociArea: Area = { name: "oci", tables: OCI_TABLES };
