import type { NavGroup } from "../../app/nav.ts";

/** The pages of the area in the navigation. */
export const eventsNav: NavGroup = {
  label: "Events",
  items: [
    { to: "/events", label: "Live events" },
    { to: "/events/subscriptions", label: "Subscriptions" },
    { to: "/audit", label: "Audit log" },
  ],
};
