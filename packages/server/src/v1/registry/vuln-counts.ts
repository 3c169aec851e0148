import type { MessageShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Capability } from "@moorage/api/messages";
import {
  Vulnerabilities,
  Vulnerability_Severity as Severity,
  type VulnCountReportFilter,
  VulnCountReportFilterSchema,
  VulnCountReportListSchema,
  VulnCountReportSchema,
} from "@moorage/api/v1/registry";
import { timeViolations } from "@moorage/kernel/aip/times";
import type { Call } from "@moorage/kernel/core/call";
import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { milliseconds, timestamp, wholeMilliseconds } from "@moorage/kernel/lib/timestamps";
import { repoOfReport } from "@moorage/registry/registry";
import {
  countsOfTag,
  DAY_MS,
  type DayCount,
  dayOf,
  type Days,
  feedChanges,
  staleText,
} from "@moorage/security/security";
import { reading, type Translation } from "../service.ts";
import { listed, orElsewhere } from "../v2.ts";
import { SEVERITIES } from "./severities.ts";

type Counts = Pick<Translation<typeof Vulnerabilities>, "listVulnCountReports" | "listCumulativeVulnCountReports">;
type CountReport = MessageShape<typeof VulnCountReportSchema>;

interface Reference {
  repo: string;
  tag: string;
}

/** A reference with the field of the request that has its repo. */
interface AskedReference extends Reference {
  field: string;
}

const DEFAULT_TAG = "latest";
const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const MAX_REFERENCES = 100;
const MAX_NAME = 1_024;
const TAG = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

const { listVulnCountReports, listCumulativeVulnCountReports } = Vulnerabilities.method;

/** How many vulnerabilities images had, by day: of each tag in the order of the days. */
export const countReports: Counts = {
  listVulnCountReports: reading(listVulnCountReports, (call, filter) => countsOf(call, filter, false)),
  listCumulativeVulnCountReports: reading(listCumulativeVulnCountReports, (call, filter) =>
    countsOf(call, filter, true),
  ),
};

async function countsOf(call: Call, filter: VulnCountReportFilter, isCumulative: boolean) {
  const { references, days } = checked(call, filter);
  // Of the whole days, so that another process counts the same ones.
  const [from, to] = [timestamp(days.firstMs), timestamp(days.lastMs)];
  const feedTimes = await feedChanges(call.tx);
  // Before the first of them is answered: a name may be refused.
  const repos = new Map<string, string | undefined>();
  for (const { repo: name, field } of references)
    if (!repos.has(name)) repos.set(name, await visibleRepo(call, name, field));
  const pages = (async function* () {
    for (const { repo: name, tag } of references) {
      const repo = repos.get(name);
      if (repo === undefined) continue;
      yield await orElsewhere(
        call,
        () => create(VulnCountReportFilterSchema, { references: [{ repo: name, tag }], from, to }),
        async () => {
          const counts = await countsOfTag(call, { repo, tag }, days, { isCumulative, feedTimes });
          return counts.map((count) => countReport({ repo: name, tag }, count));
        },
      );
      call.requireCaller();
    }
  })();
  return await listed(VulnCountReportListSchema, pages, (items) => items);
}

/** The tags, each once, and the days. Throws INVALID_ARGUMENT with all that is wrong with them. */
function checked(
  { nowMs }: Call,
  { repo, tag, references, from, to }: VulnCountReportFilter,
): { references: AskedReference[]; days: Days } {
  const asked = references.length > 0 ? references : [{ repo, tag }];
  const violations: FieldViolation[] = timeViolations({ from, to });
  if (asked.length > MAX_REFERENCES)
    violations.push({ field: "references", description: `must have at most ${MAX_REFERENCES} entries` });
  for (const [at, each] of asked.entries()) {
    const path = references.length > 0 ? `references[${at}].` : "";
    if (each.repo === "") violations.push({ field: `${path}repo`, description: "is required" });
    if (each.repo.length > MAX_NAME || each.repo.includes("\0"))
      violations.push({ field: `${path}repo`, description: "must be the path of an image, as acme/app" });
    if (each.tag !== "" && !TAG.test(each.tag)) violations.push({ field: `${path}tag`, description: "must be a tag" });
  }
  const lastMs = dayOf(to === undefined ? nowMs : wholeMilliseconds(to));
  const firstMs = from === undefined ? lastMs - (DEFAULT_DAYS - 1) * DAY_MS : dayOf(wholeMilliseconds(from));
  if (from !== undefined && to !== undefined && milliseconds(to) < milliseconds(from))
    violations.push({ field: "to", description: "must not be before from" });
  else if (lastMs - firstMs >= MAX_DAYS * DAY_MS)
    violations.push({ field: "from", description: `must be at most ${MAX_DAYS} days before to` });
  if (violations.length > 0) throw invalidArgument(...violations);
  const named = asked.map((each, at) => ({
    repo: each.repo,
    tag: each.tag || DEFAULT_TAG,
    field: references.length > 0 ? `references[${at}].repo` : "repo",
  }));
  return {
    references: [...new Map(named.map((each) => [`${each.repo}:${each.tag}`, each])).values()],
    days: { firstMs, lastMs },
  };
}

/** The uid of the repo with this path or name; undefined when the caller may not list its reports, or there is none. */
async function visibleRepo(call: Call, name: string, field: string): Promise<string | undefined> {
  const repo = await repoOfReport(call, { name, needs: [Capability.CAP_VULN_REPORT_LIST], field });
  return repo !== undefined && (await call.may(Capability.CAP_VULN_REPORT_LIST, repo)) ? repo : undefined;
}

// The worst first.
const ORDER = [
  Severity.CRITICAL,
  Severity.HIGH,
  Severity.MEDIUM,
  Severity.LOW,
  Severity.NEGLIGIBLE,
  Severity.UNKNOWN,
] as const;

function countReport({ repo, tag }: Reference, count: DayCount): CountReport {
  const { dayMs, severities, bytes, state, reason, stale } = count;
  const ids = [...severities.keys()].sort();
  const of = (wanted: Severity): string[] => ids.filter((id) => SEVERITIES[severities.get(id) ?? "UNKNOWN"] === wanted);
  return create(VulnCountReportSchema, {
    repo,
    tag,
    date: timestamp(dayMs),
    vulnCounts: ORDER.map((severity) => ({ severity, count: of(severity).length })).filter(({ count }) => count > 0),
    sizeBytes: BigInt(bytes),
    cveIds: ids,
    lowCveIds: of(Severity.LOW),
    medCveIds: of(Severity.MEDIUM),
    highCveIds: of(Severity.HIGH),
    critCveIds: of(Severity.CRITICAL),
    negligibleCveIds: of(Severity.NEGLIGIBLE),
    unknownCveIds: of(Severity.UNKNOWN),
    state,
    stateReason: reason,
    staleFeeds: stale.map(staleText),
  });
}
