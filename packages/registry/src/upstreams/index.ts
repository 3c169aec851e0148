// The registries that groups stand for.
export { newestOld, noteSighting, opensAt } from "./age.ts";
export { isSighted, lastSighted, sightedAbove } from "./sightings.ts";
export { upstreamsArea } from "./area.ts";
export {
  checkTimeOf,
  noteCheck,
  noteTagCheck,
  noteTagChecks,
  noteUnchanged,
  noteUpstream,
  type UpstreamNote,
} from "./commands.ts";
export { centersOf, heldPulls, type NotedPulls, noteCenterPulls } from "./center-pulls.ts";
export { credentialPlace } from "./credentials.ts";
export {
  claimFollow,
  type DueFollow,
  endFollow,
  FOLLOW_HOLD_MS,
  type FollowRead,
  type FollowReports,
  type HeldFollow,
  holdFollow,
  knownRepos,
  nextFollow,
  noteFollowedRepo,
} from "./follow-commands.ts";
export { followMetrics, followsLateMs } from "./follow-metrics.ts";
export { followRules, type FollowRules } from "./follow-rules.ts";
export { mirroredName, type MirroredName } from "./mirrors.ts";
export { rateIn, type RegistryRate } from "./rate.ts";
export { pulledCuts } from "./repo-policy.ts";
export {
  isOrigin,
  noteOrigin,
  originOf,
  pathBelow,
  type StandIn,
  standInFor,
  standInOf,
  standsForWords,
} from "./stand-ins.ts";
