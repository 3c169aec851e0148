// The services and functions of libraries that other features use.
export { librariesArea } from "./area.ts";
export { type BlockRecorder, createBlockRecorder } from "./blocks/recorder.ts";
export { blockMetrics } from "./blocks/metrics.ts";
export { endDownloadCoverage } from "./downloads/commands.ts";
export { createDownloadCounter } from "./downloads/counter.ts";
export { downloadMetrics } from "./downloads/metrics.ts";
export { ecosystemsWith, loadEcosystems } from "./ecosystems.ts";
export { openReading } from "./reading-pool.ts";
export { type Reading } from "./reading/open.ts";
export { createLibraryCache } from "./requests/cache.ts";
export { libraryHandler } from "./router.ts";
export { libraryMetrics } from "./upstreams/metrics.ts";
export { openUpstreams, type Upstreams } from "./upstreams/open.ts";
