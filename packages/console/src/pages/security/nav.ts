import type { NavGroup } from "../../app/nav.ts";

/** The pages of the area in the navigation. */
export const securityNav: NavGroup = {
  label: "Security",
  items: [
    { to: "/vulnerabilities", label: "Vulnerabilities" },
    { to: "/advisories", label: "Advisories" },
  ],
};
