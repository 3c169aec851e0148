/**
 * How a reader of what this process prints runs the command: `npx moorage` where it runs from a clone, in whose folder
 * that is the clone's own; `moorage` everywhere else, where npx would fetch the name from the internet.
 */
export const OWN_COMMAND = import.meta.url.endsWith(".ts") ? "npx moorage" : "moorage";
