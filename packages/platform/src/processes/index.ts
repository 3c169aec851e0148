// The processes that serve the installation, and the versions of their programs.
export { processesArea } from "./area.ts";
export { describeProcess, processOfOtherSchema, requireAlike, servingProcesses } from "./alike.ts";
export { probeWrites } from "./commands.ts";
export { type Presence, startPresence } from "./presence.ts";
