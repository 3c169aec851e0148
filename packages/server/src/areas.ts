// All areas that declare something: what goes over the whole server loops over this list.
import { TagsService } from "@moorage/api/messages";
import { auditArea } from "@moorage/kernel/audit";
import type { Area } from "@moorage/kernel/core/area";
import { allBelow } from "@moorage/kernel/core/below";
import { served } from "@moorage/kernel/core/service";
import { STORE_TABLES } from "@moorage/kernel/store";
import { librariesArea } from "@moorage/libraries/libraries";
import { authArea } from "@moorage/platform/auth";
import { eventsArea } from "@moorage/platform/events";
import { iamArea } from "@moorage/platform/iam";
import { mailArea } from "@moorage/platform/mail";
import { processesArea } from "@moorage/platform/processes";
import { mirroringArea } from "@moorage/registry/mirroring";
import { ociArea } from "@moorage/registry/oci";
import { QUOTA_CHECKS, registryArea, tagsService } from "@moorage/registry/registry";
import { replicationArea } from "@moorage/registry/replication";
import { judgePromotion, judgeTagFindings, securityArea } from "@moorage/security/security";
import { judgeSignedMoves, judgeTagSignatures, trustArea } from "@moorage/registry/trust";
import { upstreamsArea } from "@moorage/registry/upstreams";
import { jobsArea } from "./jobs/area.ts";
import { operationsArea } from "./operations/area.ts";
import { pingArea } from "./ping/index.ts";

/** The registry with tags, whose promotions are judged by what stands above it. */
const registryWithTags: Area = {
  ...registryArea,
  services: [
    ...(registryArea.services ?? []),
    served(TagsService, (context) =>
      tagsService(
        context,
        { findings: judgePromotion, signatures: judgeSignedMoves },
        { signatures: judgeTagSignatures, findings: judgeTagFindings },
      ),
    ),
  ],
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
  upstreamsArea,
  securityArea,
  librariesArea,
  mirroringArea,
  replicationArea,
  jobsArea,
  operationsArea,
  pingArea,
  // What quotas count is of several areas: it is checked when the rows of all of these are.
  { name: "registry", checks: QUOTA_CHECKS },
  { name: "store", tables: STORE_TABLES },
];

/** What all areas keep below resources of others. */
export const BELOW = allBelow(AREAS.flatMap(({ below }) => below ?? []));

/** What all areas have on `/metrics`. */
export const METRICS = AREAS.flatMap(({ metrics }) => metrics ?? []);
