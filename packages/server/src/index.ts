export { type Bootstrap, readBootstrap } from "./installation/bootstrap.ts";
export type { Collected } from "./oci/index.ts";
export { collectInstallation, type GcOptions, gcPromise } from "./boot/gc.ts";
export { type Config, ConfigError, loadConfig, parseDuration, type Setting, SETTINGS } from "./config.ts";
export {
  backupInstallation,
  type BackupManifest,
  checkInstallation,
  exportInstallation,
  type ExportManifest,
  type Finding,
  type FsckOptions,
  type FsckResult,
  importInstallation,
  type Migrated,
  migrateInstallation,
  type Progress,
  type Report,
  restoreInstallation,
} from "./admin/index.ts";
export { type Server, type ServerOptions, startServer } from "./boot/server.ts";
export { signToken, type SignTokenRequest } from "./boot/sign-token.ts";
export { StoreError } from "./store/index.ts";
export { startWorkers, type Workers } from "./boot/cluster.ts";
