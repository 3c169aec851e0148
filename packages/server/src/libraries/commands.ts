import { mavenCommands } from "./maven/commands.ts";
import { npmCommands } from "./npm/commands.ts";
import { pypiCommands } from "./pypi/commands.ts";

/** All commands of libraries. */
export const libraryCommands = [...npmCommands, ...pypiCommands, ...mavenCommands] as const;
