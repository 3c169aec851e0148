// The services and functions of libraries that other features use.
export { artifactsService } from "./artifacts/service.ts";
export { writeWords } from "./artifacts/words.ts";
export { libraryFindingsService } from "./findings/service.ts";
export { libraryCommands } from "./commands.ts";
export { type LibraryDeps } from "./http/exchange.ts";
export { libraryHandler } from "./http/router.ts";
