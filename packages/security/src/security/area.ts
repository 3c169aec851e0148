import type { Area } from "@moorage/kernel/core/area";
import { belowGroup } from "./advisories/below.ts";
import { ADVISORY_TABLES } from "./advisories/tables.ts";
import { SECURITY_CHECKS } from "./checks.ts";
import { ATTACHED_TABLES } from "./attached/tables.ts";
import { noteImage } from "./catalog/note-image.ts";
import { CATALOG_TABLES } from "./catalog/tables.ts";
import { FEED_TABLES } from "./feeds/tables.ts";
import { FINDING_TABLES } from "./findings/tables.ts";
import { resealScanners } from "./scanners/credentials.ts";
import { deleteScansOfRepo } from "./scanners/remove.ts";
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
  below: {
    group: belowGroup,
    repo: {
      // What images hold, and what was found in them, is removed by jobs once no repo has them.
      async end({ tx }, repo) {
        await tx.deleteFrom("attachments").where("repo", "=", repo).execute();
        await deleteScansOfRepo(tx, repo);
      },
    },
    image: { stored: noteImage },
  },
  checks: SECURITY_CHECKS,
  reseal: resealScanners,
};
