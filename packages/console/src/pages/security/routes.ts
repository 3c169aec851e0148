import { advisoriesRoute, advisoryRoute } from "./advisory/routes.ts";
import { imageRoute } from "./image/route.ts";
import { scannersRoute } from "./scanners/routes.ts";
import { signaturesRoutes } from "./signatures/routes.ts";
import { vulnerabilitiesRoute, vulnerabilityRoute } from "./vulnerability/routes.ts";

/** The routes of the area. */
export const securityRoutes = [
  imageRoute,
  vulnerabilitiesRoute,
  vulnerabilityRoute,
  advisoriesRoute,
  advisoryRoute,
  scannersRoute,
  ...signaturesRoutes,
] as const;
