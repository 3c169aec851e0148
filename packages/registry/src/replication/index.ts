// Images that are pushed to other registries by rules.
export { replicationArea } from "./area.ts";
export { openReplication } from "./engine.ts";
export { replicationFigures } from "./figures.ts";
export { replicationMetrics } from "./metrics.ts";
