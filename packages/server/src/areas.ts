// All areas that declare something: what goes over the whole server loops over this list.
import { TagsService } from "@moorage/api/messages";
import { auditArea } from "@moorage/kernel/audit";
import { authArea } from "@moorage/platform/auth";
import type { Area } from "@moorage/kernel/core/area";
import { allBelow } from "@moorage/kernel/core/below";
import { served } from "@moorage/kernel/core/service";
import { eventsArea } from "@moorage/platform/events";
import { iamArea } from "@moorage/platform/iam";
import { librariesArea } from "@moorage/libraries/libraries";
import { mailArea } from "@moorage/platform/mail";
import { mirroringArea } from "@moorage/registry/mirroring";
import { ociArea } from "@moorage/registry/oci";
import { processesArea } from "@moorage/platform/processes";
import { registryArea, tagsService } from "@moorage/registry/registry";
import { judgePromotion, securityArea } from "@moorage/security/security";
import { STORE_TABLES } from "@moorage/kernel/store";
import { trustArea } from "@moorage/security/trust";
import { jobsArea } from "./jobs/area.ts";
import { operationsArea } from "./operations/area.ts";
import { pingArea } from "./ping/index.ts";

/** The registry with tags, whose promotions are judged by gates, which stand above it. */
const registryWithTags: Area = {
  ...registryArea,
  services: [...(registryArea.services ?? []), served(TagsService, (context) => tagsService(context, judgePromotion))],
};

/**
 * The areas. The order is that in which answers name what keeps a group from being deleted, and in which rows are
 * checked: the store comes last, whose lists and counters are of what the others have.
 */
export const AREAS: readonly Area[] = [
  auditArea,
  registryWithTags,
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
  jobsArea,
  operationsArea,
  pingArea,
  { name: "store", tables: STORE_TABLES },
];

/** What all areas keep below resources of others. */
export const BELOW = allBelow(AREAS.flatMap(({ below }) => below ?? []));
