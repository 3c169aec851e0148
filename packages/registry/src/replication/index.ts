// Images that are pushed to other registries by rules.
export { replicationArea } from "./area.ts";
export { openReplication } from "./engine.ts";
