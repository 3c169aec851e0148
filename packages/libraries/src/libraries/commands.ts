import { changeLibrary } from "./artifacts/change.ts";
import { publishLibrary } from "./artifacts/publish.ts";
import { blockCommands } from "./blocks/commands.ts";
import { downloadCommands } from "./downloads/commands.ts";
import { upstreamCommands } from "./upstreams/commands.ts";

/** All commands of libraries. */
export const libraryCommands = [
  publishLibrary,
  changeLibrary,
  ...blockCommands,
  ...downloadCommands,
  ...upstreamCommands,
] as const;
