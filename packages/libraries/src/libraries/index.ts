// The services and functions of libraries that other features use.
export { librariesArea } from "./area.ts";
export { artifactsService } from "./artifacts/service.ts";
export { type BlockRecorder, createBlockRecorder } from "./blocks/recorder.ts";
export { blockRetention } from "./blocks/retention.ts";
export { blocksService } from "./blocks/service.ts";
export { artifactPoliciesService } from "./policies/service.ts";
export { libraryFindingsService } from "./findings/service.ts";
export { libraryCommands } from "./commands.ts";
export { ecosystemsWith, loadEcosystems } from "./ecosystems.ts";
export { openReading } from "./reading-pool.ts";
export { type Reading } from "./reading/open.ts";
export { createLibraryCache } from "./requests/cache.ts";
export { libraryHandler } from "./router.ts";
export { openUpstreams, type Upstreams } from "./upstreams/open.ts";
export { removeUnusedUpstreamDocuments } from "./upstreams/retention.ts";
export { upstreamsService } from "./upstreams/service.ts";
