import { blobCommands } from "./blob-commands.ts";
import { manifestCommands } from "./manifest-commands.ts";
import { mirrorCommands } from "./mirror-commands.ts";

/** What the registry writes, by name; run in the writing thread. */
export const distributionCommands = { ...blobCommands, ...manifestCommands, ...mirrorCommands };
