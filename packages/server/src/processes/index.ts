// The processes that serve the installation, and the versions of their programs.
export { processesArea } from "./area.ts";
export { describeProcess, processOfOtherSchema, requireAlike, servingProcesses } from "./alike.ts";
export { probeWrites, processCommands, type ServingProcess } from "./commands.ts";
export { type Presence, type SchemaVersions, startPresence } from "./presence.ts";
