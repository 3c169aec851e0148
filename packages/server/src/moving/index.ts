export { backupInstallation } from "./backup.ts";
export type { BackupManifest } from "./backup-manifest.ts";
export { exportInstallation } from "./export.ts";
export { checkInstallation, type Finding, type FsckOptions, type FsckResult } from "./fsck.ts";
export { importInstallation } from "./import.ts";
export type { ExportManifest } from "./manifest.ts";
export { type Migrated, migrateInstallation } from "./migrate.ts";
export type { Progress, Report } from "./report.ts";
export { restoreInstallation } from "./restore.ts";
