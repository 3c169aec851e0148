export { type Bootstrap, hasBootstrap, readBootstrap } from "./installation/bootstrap-file.ts";
export type { Collected } from "@moorage/registry/oci";
export { gcPromise } from "./jobs/jobs.ts";
export {
  type Config,
  ConfigError,
  flagOf,
  loadConfig,
  parseDuration,
  type Setting,
  SETTINGS,
} from "@moorage/kernel/config";
export {
  type Adopter,
  type AdoptedFile,
  backupInstallation,
  type BackupManifest,
  type Check,
  checkInstallation,
  collectInstallation,
  examineBucket,
  examineDatabase,
  examineMail,
  subjectOfBucket,
  subjectOfDatabase,
  exportInstallation,
  type FeedsAdmin,
  type ExportManifest,
  type Finding,
  type FsckOptions,
  type FsckResult,
  type GcOptions,
  type GrantedOwner,
  grantOwnership,
  importInstallation,
  type Migrated,
  migrateInstallation,
  type PlannedFeed,
  type Progress,
  type Report,
  restoreInstallation,
  type PlacedContent,
  withAdopter,
  withFeeds,
} from "./admin/index.ts";
export { type Closed, type CloseOptions, endOnSignals } from "./boot/end.ts";
export { type Server, type ServerOptions, startServer } from "./boot/server.ts";
export { signToken, type SignTokenRequest } from "./boot/sign-token.ts";
export { makeTempFolder } from "@moorage/kernel/lib/temp-folders";
export { releaseMemoryWhenIdle } from "@moorage/kernel/lib/release-memory";
export { type Covered, FEED_FORMATS, type FeedDefinition, type Imported } from "@moorage/security/security";
export { StoreError } from "@moorage/kernel/store";
export { startWorkers, type Workers } from "./boot/cluster.ts";
