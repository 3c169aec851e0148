// What `moorage subscriptions` has besides the methods of the API: types as the feed shows them.
import type { Extension } from "../resources/extension.ts";
import type { Tasks } from "./tasks.ts";

const TYPES: Extension = {
  begin: async (run) => (await import("./event-types.ts")).typesOf(run),
};

/** Types of events without the prefix of the installation, in `create`. */
export const SUBSCRIPTION_TASKS: Tasks = { names: [], add() {}, extend: { create: TYPES } };
