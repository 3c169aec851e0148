import type { NavGroup } from "../../routing/nav-group.ts";

/** The pages of the area in the navigation. */
export const accessNav: NavGroup = {
  label: "Access",
  items: [
    { to: "/access/explain", label: "Who may do what" },
    { to: "/access/groups", label: "Groups" },
    { to: "/access/identities", label: "Identities" },
    { to: "/access/machines", label: "Machines" },
    { to: "/access/roles", label: "Roles" },
    { to: "/access/bindings", label: "Role bindings" },
    { to: "/access/providers", label: "Identity providers" },
    { to: "/access/mappings", label: "External groups" },
    { to: "/access/invites", label: "Invites" },
    { to: "/access/pull-tokens", label: "Pull tokens" },
    { to: "/access/personal-tokens", label: "Personal tokens" },
    { to: "/access/associations", label: "Accounts elsewhere" },
    { to: "/access/terms", label: "Terms" },
  ],
};
