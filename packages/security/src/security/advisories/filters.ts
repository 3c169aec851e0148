import { type ListAdvisoriesRequest, ReviewState } from "@moorage/api/messages";
import { sql } from "kysely";
import { columnIs, columnIsIfSet } from "@moorage/kernel/aip/list";
import type { CallData } from "@moorage/kernel/core/call";
import type { Condition } from "@moorage/kernel/aip/scope";
import { hiddenFrom } from "./location-changes.ts";
import { folded, MAX_SEARCHED } from "./lookups.ts";

/** Greater than every character that a text goes on with. */
const LAST_CHARACTER = "\u{10FFFF}";

/**
 * The conditions of a list of advisories. Within one filter any value matches, and all filters must; those about events
 * are about one event. `organizations`: those that the caller sees anything of.
 */
export function filtersOf(
  call: Pick<CallData, "v1">,
  request: ListAdvisoriesRequest,
  organizations: readonly string[],
): Condition[] {
  const { origin, latestEventType, aliases, query } = request;
  return [
    sql`t.delete_time is null`,
    ...columnIn("advisory_id", request.advisoryIds),
    ...columnIn("legacy_advisory_id", request.legacyAdvisoryIds),
    ...columnIn("artifact_name", request.artifactNames),
    ...columnIn("artifact_type", request.artifactTypes),
    ...columnIn("artifact_architecture", request.artifactArchitectures),
    ...columnIn("component_name", request.componentNames),
    ...columnIn("component_type", request.componentTypes),
    ...columnIn("component_location", request.componentLocations),
    ...(aliases.length === 0
      ? []
      : [sql`t.uid in (select advisory from advisory_aliases where alias in (${sql.join(aliases.map(folded))}))`]),
    ...(origin === "" ? [] : [sql`(${columnIs("origin", origin)} or (t.origin = '' and t.artifact_name = ${origin}))`]),
    ...(call.v1 === true ? latestIs(latestEventType) : columnIsIfSet("latest_type", latestEventType)),
    ...eventConditions(call, request),
    ...(query === "" ? [] : [contains(query, organizations)]),
  ];
}

/** The column that finds few advisories for the request; undefined when none of its filters does. */
export function foundBy(request: ListAdvisoriesRequest): string | undefined {
  const { aliases, query, advisoryIds, legacyAdvisoryIds, artifactNames, componentNames } = request;
  if (aliases.length > 0 || query !== "") return "uid";
  if (advisoryIds.length > 0) return "advisory_id";
  if (legacyAdvisoryIds.length > 0) return "legacy_advisory_id";
  if (artifactNames.length > 0) return "artifact_name";
  return componentNames.length > 0 ? "component_name" : undefined;
}

function columnIn(column: string, values: readonly (string | number)[], table = "t"): Condition[] {
  return values.length === 0 ? [] : [sql`${sql.ref(`${table}.${column}`)} in (${sql.join(values)})`];
}

/** The latest approved event of all that v1 shows is of the type; `latest_type` is that of those that v2 shows. */
function latestIs(type: number): Condition[] {
  if (type === 0) return [];
  return [
    sql`(select e.type from advisory_events as e where e.parent = t.uid and e.review_state = ${ReviewState.APPROVED}
      order by e.create_time desc limit 1) = ${type}`,
  ];
}

function eventConditions(call: Pick<CallData, "v1">, request: ListAdvisoriesRequest): Condition[] {
  const { excludeEventAuthors: excluded } = request;
  const wanted = [
    ...columnIn("review_state", request.eventReviewStates, "e"),
    ...columnIn("author", request.eventAuthors, "e"),
    ...columnIn("reviewer", request.eventReviewers, "e"),
    ...columnIn("type", request.eventTypes, "e"),
  ];
  const by = sql`e.author in (${sql.join(excluded)})`;
  const shown = sql`e.type not in (${sql.join(hiddenFrom(call))})`;
  const exists = (...conditions: Condition[]): Condition =>
    sql`exists (select 1 from advisory_events as e where ${sql.join([sql`e.parent = t.uid`, shown, ...conditions], sql` and `)})`;
  if (wanted.length > 0) return [exists(...wanted, ...(excluded.length === 0 ? [] : [sql`not ${by}`]))];
  return excluded.length === 0 ? [] : [sql`(not ${exists(by)} or ${exists(sql`not ${by}`)})`];
}

function contains(query: string, organizations: readonly string[]): Condition {
  if (organizations.length === 0) return sql`1 = 0`;
  const text = [...folded(query)].slice(0, MAX_SEARCHED).join("");
  return sql`t.uid in (select advisory from advisory_suffixes where organization in (${sql.join(organizations)})
    and suffix >= ${text} and suffix < ${text + LAST_CHARACTER})`;
}
