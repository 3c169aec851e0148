// All areas that declare something: what goes over the whole server loops over this list.
import { auditArea } from "./audit/index.ts";
import { authArea } from "./auth/index.ts";
import type { Area } from "./core/area.ts";
import { allBelow } from "./core/below.ts";
import { eventsArea } from "./events/index.ts";
import { iamArea } from "./iam/index.ts";
import { librariesArea } from "./libraries/index.ts";
import { mailArea } from "./mail/index.ts";
import { mirroringArea } from "./mirroring/index.ts";
import { ociArea } from "./oci/index.ts";
import { processesArea } from "./processes/index.ts";
import { registryArea } from "./registry/index.ts";
import { securityArea } from "./security/index.ts";
import { STORE_TABLES } from "./store/index.ts";
import { trustArea } from "./trust/index.ts";

/**
 * The areas. The order is that in which answers name what keeps a group from being deleted, and in which rows are
 * checked: the store comes last, whose lists and counters are of what the others have.
 */
export const AREAS: readonly Area[] = [
  auditArea,
  registryArea,
  iamArea,
  mailArea,
  processesArea,
  eventsArea,
  authArea,
  ociArea,
  trustArea,
  securityArea,
  librariesArea,
  mirroringArea,
  { name: "store", tables: STORE_TABLES },
];

/** What all areas keep below resources of others. */
export const BELOW = allBelow(AREAS.flatMap(({ below }) => below ?? []));
