import { npmCommands } from "./npm/commands.ts";

/** All commands of libraries. */
export const libraryCommands = [...npmCommands] as const;
