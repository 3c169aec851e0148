import { accessNav } from "../pages/access/nav.ts";
import { eventsNav } from "../pages/events/nav.ts";
import { operationsNav } from "../pages/operations/nav.ts";
import { registryNav } from "../pages/registry/nav.ts";
import { securityNav } from "../pages/security/nav.ts";
import type { NavGroup } from "../routing/nav-group.ts";

/** The navigation at the side, and what the palette offers. */
export const NAV: readonly NavGroup[] = [registryNav, securityNav, accessNav, eventsNav, operationsNav].filter(
  ({ items }) => items.length > 0,
);
