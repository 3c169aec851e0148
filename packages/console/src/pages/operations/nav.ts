import type { NavGroup } from "../../routing/nav-group.ts";

/** The pages of the area in the navigation. */
export const operationsNav: NavGroup = {
  label: "Operations",
  items: [
    { to: "/operations", label: "Installation" },
    { to: "/operations/feeds", label: "Feeds" },
    { to: "/operations/storage", label: "Storage" },
    { to: "/sessions", label: "Sessions" },
  ],
};
