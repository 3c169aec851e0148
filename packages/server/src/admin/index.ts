export { backupInstallation } from "./backup/backup.ts";
export type { BackupManifest } from "./backup/manifest.ts";
export { exportInstallation } from "./export/export.ts";
export { checkInstallation, type Finding, type FsckOptions, type FsckResult } from "./fsck/fsck.ts";
export { importInstallation } from "./import/import.ts";
export type { ExportManifest } from "./export/manifest.ts";
export { type Migrated, migrateInstallation } from "./migrate.ts";
export type { Progress, Report } from "./progress.ts";
export { restoreInstallation } from "./backup/restore.ts";
