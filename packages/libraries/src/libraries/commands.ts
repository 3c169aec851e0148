import { changeLibrary } from "./artifacts/change.ts";
import { publishLibrary } from "./artifacts/publish.ts";
import { blockCommands } from "./blocks/commands.ts";
import { upstreamCommands } from "./upstreams/commands.ts";

/** All commands of libraries. */
export const libraryCommands = [publishLibrary, changeLibrary, ...blockCommands, ...upstreamCommands] as const;
