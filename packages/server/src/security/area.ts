import type { Area } from "../core/area.ts";
import { ADVISORY_TABLES } from "./advisories/tables.ts";
import { ATTACHED_TABLES } from "./attached/tables.ts";
import { CATALOG_TABLES } from "./catalog/tables.ts";
import { FEED_TABLES } from "./feeds/tables.ts";
import { FINDING_TABLES } from "./findings/tables.ts";
import { SCANNER_TABLES } from "./scanners/tables.ts";

export const securityArea: Area = {
  name: "security",
  tables: {
    ...ADVISORY_TABLES,
    ...CATALOG_TABLES,
    ...FINDING_TABLES,
    ...ATTACHED_TABLES,
    ...SCANNER_TABLES,
    ...FEED_TABLES,
  },
};
