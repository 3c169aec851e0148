// All areas that declare something: what goes over the whole server loops over this list.
import { auditArea } from "./audit/index.ts";
import { authArea } from "./auth/index.ts";
import type { Area } from "./core/area.ts";
import { eventsArea } from "./events/index.ts";
import { iamArea } from "./iam/index.ts";
import { librariesArea } from "./libraries/index.ts";
import { mirroringArea } from "./mirroring/index.ts";
import { ociArea } from "./oci/index.ts";
import { processesArea } from "./processes/index.ts";
import { registryArea } from "./registry/index.ts";
import { securityArea } from "./security/index.ts";
import { STORE_TABLES } from "./store/index.ts";

/** The areas, from the lowest layer to the highest. */
export const AREAS: readonly Area[] = [
  { name: "store", tables: STORE_TABLES },
  auditArea,
  iamArea,
  processesArea,
  registryArea,
  eventsArea,
  authArea,
  ociArea,
  securityArea,
  librariesArea,
  mirroringArea,
];
