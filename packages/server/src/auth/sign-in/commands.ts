import { deviceCommands } from "./device-commands.ts";
import { flowCommands } from "./flow-commands.ts";
import { grantCommands } from "./grant-commands.ts";
import { sessionCommands } from "./session-commands.ts";

/** What sign-in writes: commands of the transactor. */
export const signInFlowCommands = { ...flowCommands, ...grantCommands, ...deviceCommands, ...sessionCommands };
