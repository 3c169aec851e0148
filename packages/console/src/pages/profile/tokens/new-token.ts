import { call } from "../../../api/call.ts";
import { createPersonalToken, type PersonalToken, type Role } from "../../../api/gen/iam.ts";
import type { FormSpec } from "../../access/parts/resource.ts";
import { capabilitiesFor, PERMISSION_OPTIONS } from "./permissions.ts";

const DAY_MS = 86_400_000;

/** The form for a new token of the person. */
export function newToken(roles: readonly Role[]): FormSpec<PersonalToken> {
  return {
    title: "New token",
    action: "Create",
    description: "It can do at most what you can, and is shown only once.",
    fields: [
      { name: "name", label: "Name", help: "Where it will be used, such as docker on my laptop" },
      { name: "capabilities", label: "Permissions", kind: "options", options: PERMISSION_OPTIONS, initial: "pull" },
      { name: "groups", label: "Group", kind: "group", none: "All groups", help: "With everything below it" },
      {
        name: "expirationTime",
        label: "Expires in",
        kind: "options",
        options: [
          ["7", "7 days"],
          ["30", "30 days"],
          ["90", "90 days"],
          ["365", "a year"],
        ],
        initial: "90",
      },
    ],
    send: async ({ name = "", capabilities = "", groups = "", expirationTime }) =>
      await call(createPersonalToken, {
        personalToken: {
          name,
          capabilities: capabilitiesFor(capabilities, roles),
          groups: groups === "" ? [] : [groups],
          expirationTime: new Date(Date.now() + Number(expirationTime) * DAY_MS).toISOString(),
        },
      }),
  };
}
