import { blobCommands } from "./blob-commands.ts";
import { collectCommands } from "./collect-commands.ts";
import { graceCommands } from "./grace-commands.ts";
import { manifestCommands } from "./manifest-commands.ts";
import { mirrorCommands } from "./mirror-commands.ts";

/** What the registry writes, by name; run in the writing thread. */
export const distributionCommands = { ...blobCommands, ...collectCommands, ...graceCommands, ...manifestCommands, ...mirrorCommands };
