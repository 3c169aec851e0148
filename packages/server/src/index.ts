export { type Bootstrap, readBootstrap } from "./bootstrap.ts";
export type { Collected } from "./distribution/index.ts";
export { collectInstallation, type GcOptions, gcPromise } from "./gc.ts";
export { type Config, ConfigError, loadConfig, parseDuration, type Setting, SETTINGS } from "./config.ts";
export {
  backupInstallation, type BackupManifest, checkInstallation, exportInstallation, type ExportManifest, type Finding, type FsckOptions, type FsckResult, importInstallation,
  type Migrated, migrateInstallation, type Progress, type Report, restoreInstallation,
} from "./moving/index.ts";
export { type Server, type ServerOptions, startServer } from "./server.ts";
export { signToken, type SignTokenRequest } from "./sign-token.ts";
export { StoreError } from "./store/index.ts";
export { startWorkers, type Workers } from "./workers.ts";
