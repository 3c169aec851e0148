// What `moorage identities` has besides the methods of the API.
import { addFormOptions } from "../machines/flags.ts";
import type { Tasks } from "./tasks.ts";

/** The forms for machines, as flags of `create`. */
export const IDENTITY_TASKS: Tasks = {
  names: [],
  add() {},
  extend: {
    create: {
      example: "moorage identities create acme/ci --github acme/app --branch main --role registry.push",
      addOptions: addFormOptions,
      begin: async (run) => (await import("../machines/create.ts")).beginForm(run),
    },
  },
};
