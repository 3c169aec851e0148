// All areas that declare something: what goes over the whole server loops over this list.
import { auditArea } from "@moorage/kernel/audit";
import { authArea } from "@moorage/platform/auth";
import type { Area } from "@moorage/kernel/core/area";
import { allBelow } from "@moorage/kernel/core/below";
import { eventsArea } from "@moorage/platform/events";
import { iamArea } from "@moorage/platform/iam";
import { librariesArea } from "@moorage/libraries/libraries";
import { mailArea } from "@moorage/platform/mail";
import { mirroringArea } from "@moorage/registry/mirroring";
import { ociArea } from "@moorage/registry/oci";
import { processesArea } from "@moorage/platform/processes";
import { QUOTA_CHECKS, registryArea } from "@moorage/registry/registry";
import { securityArea } from "@moorage/security/security";
import { STORE_TABLES } from "@moorage/kernel/store";
import { trustArea } from "@moorage/security/trust";

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
  // What quotas count is of several areas: it is checked when the rows of all of these are.
  { name: "registry", checks: QUOTA_CHECKS },
  { name: "store", tables: STORE_TABLES },
];

/** What all areas keep below resources of others. */
export const BELOW = allBelow(AREAS.flatMap(({ below }) => below ?? []));
