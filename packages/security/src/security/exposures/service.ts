import { ExposuresService, KnowledgeState, ListExposuresRequestSchema } from "@moorage/api/messages";
import { neededFor } from "@moorage/kernel/aip/access";
import { scopeOf } from "@moorage/kernel/aip/scope";
import { timeViolations } from "@moorage/kernel/aip/times";
import { violationsOf } from "@moorage/kernel/aip/validate";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { invalidArgument } from "@moorage/kernel/errors";
import { timestamp } from "@moorage/kernel/lib/timestamps";
import { coverageMessage } from "@moorage/kernel/aip/coverage-message";
import { imagePaths, pullCoverage, requireEventsOf } from "@moorage/registry/registry";
import { unknownInScope } from "../coverage/scope-summary.ts";
import { isAnyFeed } from "../coverage/spaces.ts";
import { listExposures, type ListedExposure } from "./list.ts";

const NEEDS = neededFor(ExposuresService.method.listExposures);

/** Who pulled images with a vulnerability. */
export function exposuresService({ pageTokenKey }: ServiceContext): Service<typeof ExposuresService> {
  return {
    async listExposures(call, request) {
      const violations = [
        ...violationsOf(ListExposuresRequestSchema, request),
        ...timeViolations({ since: request.since }),
        ...(request.pageSize < 0 ? [{ field: "page_size", description: "must not be negative" }] : []),
      ];
      if (violations.length > 0) throw invalidArgument(...violations);
      const scope = scopeOf(request.uidp, await call.visible(...NEEDS));
      await requireEventsOf(call, scope.roots);
      const coverage = coverageMessage(await pullCoverage(call.tx));
      const isFirst = request.pageToken === "";
      // Read before what is found: what is not known then was not looked at.
      const { isAtLeast: atLeast, ...counts } = isFirst ? await unknownInScope(call.tx, scope) : { isAtLeast: false };
      const { rows, nextPageToken } = await listExposures(call, pageTokenKey, request, scope);
      const names = await imagePaths(call.tx).ofUids(rows.map(({ repo }) => repo));
      const exposures = rows.map((row) => messageOf(row, names));
      if (!isFirst) return { exposures, nextPageToken, coverage };
      const state = (await isAnyFeed(call.tx)) ? KnowledgeState.UNSPECIFIED : KnowledgeState.NO_DATA;
      return { exposures, nextPageToken, coverage, state, unknownSummary: { ...counts, atLeast } };
    },
  };
}

function messageOf({ repo, digest, finding, puller }: ListedExposure, names: ReadonlyMap<string, string>) {
  return {
    identity: puller.identity,
    repoUid: repo,
    image: names.get(repo) ?? "",
    digest,
    firstPullTime: timestamp(puller.firstMs),
    lastPullTime: timestamp(puller.lastMs),
    pulls: BigInt(puller.count),
    openTime: timestamp(finding.sinceMs),
    package: finding.package.name,
    version: finding.package.version,
    fix: finding.fixed[0] ?? "",
  };
}
