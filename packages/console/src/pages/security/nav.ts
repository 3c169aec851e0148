import type { NavGroup } from "../../routing/nav-group.ts";

/** The pages of the area in the navigation. */
export const securityNav: NavGroup = {
  label: "Security",
  items: [
    { to: "/vulnerabilities", label: "Vulnerabilities" },
    { to: "/advisories", label: "Advisories" },
  ],
};
