export { exportInstallation } from "./export.ts";
export { importInstallation } from "./import.ts";
export type { ExportManifest } from "./manifest.ts";
export { type Migrated, migrateInstallation } from "./migrate.ts";
export type { Progress, Report } from "./report.ts";
