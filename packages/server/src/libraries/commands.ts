import { blockCommands } from "./blocks/commands.ts";
import { mavenCommands } from "./maven/commands.ts";
import { npmCommands } from "./npm/changes.ts";
import { pypiCommands } from "./pypi/commands.ts";
import { upstreamCommands } from "./upstreams/commands.ts";

/** All commands of libraries. */
export const libraryCommands = [
  ...npmCommands,
  ...pypiCommands,
  ...mavenCommands,
  ...blockCommands,
  ...upstreamCommands,
] as const;
