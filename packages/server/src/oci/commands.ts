import { blobCommands } from "./blobs/commands.ts";
import { collectCommands } from "./gc/commands.ts";
import { graceCommands } from "./gc/grace-commands.ts";
import { manifestCommands } from "./manifests/commands.ts";
import { mirrorCommands } from "./mirror-commands.ts";

/** What the registry writes, by name; run in the writing thread. */
export const distributionCommands = {
  ...blobCommands,
  ...collectCommands,
  ...graceCommands,
  ...manifestCommands,
  ...mirrorCommands,
};
