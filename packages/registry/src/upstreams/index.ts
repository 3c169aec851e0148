// The registries that groups stand for.
export { newestOld, noteSighting, opensAt } from "./age.ts";
export { isSighted, lastSighted, sightedAbove } from "./sightings.ts";
export { upstreamsArea } from "./area.ts";
export { checkTimeOf, noteCheck, noteTagCheck, noteUpstream, type UpstreamNote } from "./commands.ts";
export { credentialPlace } from "./credentials.ts";
export { mirroredName, type MirroredName } from "./mirrors.ts";
export { rateIn, type RegistryRate } from "./rate.ts";
export { pulledCuts } from "./repo-policy.ts";
export { isOrigin, noteOrigin, originOf, type StandIn, standInFor, standsForWords } from "./stand-ins.ts";
