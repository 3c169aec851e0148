import { npmCommands } from "./npm/commands.ts";
import { pypiCommands } from "./pypi/commands.ts";

/** All commands of libraries. */
export const libraryCommands = [...npmCommands, ...pypiCommands] as const;
