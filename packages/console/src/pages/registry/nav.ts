import type { NavGroup } from "../../routing/nav-group.ts";

/** The pages of the area in the navigation. */
export const registryNav: NavGroup = {
  label: "Registry",
  items: [
    { to: "/", label: "Start" },
    { to: "/images", label: "Images" },
  ],
};
