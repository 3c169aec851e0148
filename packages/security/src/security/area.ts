import {
  ExposuresService,
  DiffsService,
  SbomsService,
  EolTagsService,
  VersionsService,
  AdvisoriesService,
  FindingsService,
  AdvisoryExportsService,
  SecurityAdvisoryService,
  ScannersService,
  ScansService,
} from "@moorage/api/messages";
import type { Area } from "@moorage/kernel/core/area";
import { served } from "@moorage/kernel/core/service";
import { belowGroup } from "./advisories/below.ts";
import { advisoriesService } from "./advisories/service.ts";
import { ADVISORY_TABLES } from "./advisories/tables.ts";
import { ATTACHED_TABLES } from "./attached/tables.ts";
import { noteImage } from "./catalog/note-image.ts";
import { CATALOG_TABLES } from "./catalog/tables.ts";
import { SECURITY_CHECKS } from "./checks.ts";
import { securityCommands } from "./commands.ts";
import { diffsService } from "./diffs/service.ts";
import { eolTagsService, versionsService } from "./end-of-life/service.ts";
import { advisoryExportsService } from "./exports/service.ts";
import { exposuresService } from "./exposures/service.ts";
import { FEED_TABLES } from "./feeds/tables.ts";
import { findingsService } from "./findings/service.ts";
import { FINDING_TABLES } from "./findings/tables.ts";
import { securityAdvisoryService } from "./reports/service.ts";
import { sbomsService } from "./sbom/service.ts";
import { resealScanners } from "./scanners/credentials.ts";
import { deleteScansOfRepo } from "./scanners/remove.ts";
import { scansService } from "./scanners/scans.ts";
import { scannersService } from "./scanners/service.ts";
import { SCANNER_TABLES } from "./scanners/tables.ts";
import { feedMetrics } from "./feeds/metrics.ts";
import { matchingMetrics } from "./findings/metrics.ts";
import { securityJobs } from "./jobs.ts";
import { catalogMetrics } from "./reading/metrics.ts";
import { scanMetrics } from "./scanners/metrics.ts";

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
  services: [
    served(DiffsService, diffsService),
    served(SbomsService, sbomsService),
    served(EolTagsService, eolTagsService),
    served(VersionsService, versionsService),
    served(AdvisoriesService, advisoriesService),
    served(FindingsService, findingsService),
    served(ExposuresService, exposuresService),
    served(AdvisoryExportsService, advisoryExportsService),
    served(SecurityAdvisoryService, securityAdvisoryService),
    served(ScannersService, scannersService),
    served(ScansService, scansService),
  ],
  commands: securityCommands,
  jobs: securityJobs,
  metrics: [catalogMetrics, feedMetrics, matchingMetrics, scanMetrics],
};
