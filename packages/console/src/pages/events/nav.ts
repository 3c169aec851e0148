import type { NavGroup } from "../../routing/nav-group.ts";

/** The pages of the area in the navigation. */
export const eventsNav: NavGroup = {
  label: "Events",
  items: [
    { to: "/events", label: "Live events" },
    { to: "/events/subscriptions", label: "Subscriptions" },
    { to: "/audit", label: "Audit log" },
  ],
};
