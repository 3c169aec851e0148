import { isoTime } from "@moorage/kernel/lib/timestamps";
import { folded } from "../advisories/lookups.ts";
import type { Decision } from "./decisions.ts";
import { packageKind } from "../records/package-kinds.ts";
import { statementOf } from "./statements.ts";

const SEMVER: ReadonlySet<string> = new Set(["npm", "Go", "crates.io", "Hex", "Pub", "SwiftURL"]);

/**
 * The record of a decision. An id that is no one's in OSV begins with x_. Packages of distributions and images, which
 * OSV names by a release or not at all, stand under database_specific alone. Source: OSV schema 1.7.
 */
export function osvOf(decision: Decision): Record<string, unknown> {
  const { advisory, aliases, timeMs } = decision;
  const { status, notes, action, justification, versions } = statementOf(decision);
  const isOfComponent = advisory.component_name !== "";
  const kind = folded(isOfComponent ? advisory.component_type : advisory.artifact_type);
  const ecosystem = packageKind(kind)?.ecosystem;
  const name = isOfComponent ? advisory.component_name : advisory.artifact_name;
  const severity = (JSON.parse(advisory.severities) as { type: string; score: string }[]).flatMap(({ type, score }) =>
    /^TYPE_CVSS_V[234]$/.test(type) ? [{ type: type.replace("TYPE_", ""), score }] : [],
  );
  const details = [notes, action].filter((text) => text !== undefined).join("\n\n");
  return {
    schema_version: "1.7.5",
    id: `x_${advisory.advisory_id}`,
    modified: isoTime(advisory.update_time),
    published: isoTime(advisory.create_time),
    // What does no harm there is taken back, so that no tool finds it.
    ...(status === "not_affected" && { withdrawn: isoTime(timeMs) }),
    aliases,
    ...(details !== "" && { details }),
    ...(ecosystem !== undefined && {
      affected: [
        {
          package: { ecosystem, name },
          ranges: [
            {
              type: SEMVER.has(ecosystem) ? "SEMVER" : "ECOSYSTEM",
              events: [{ introduced: "0" }, ...versions.map((version) => ({ fixed: version }))],
            },
          ],
          ...(severity.length > 0 && { severity }),
        },
      ],
    }),
    ...(ecosystem === undefined && severity.length > 0 && { severity }),
    database_specific: {
      status,
      ...(justification !== undefined && { justification }),
      versions,
      artifact: {
        name: advisory.artifact_name,
        type: advisory.artifact_type,
        architecture: advisory.artifact_architecture,
      },
      component: {
        name: advisory.component_name,
        type: advisory.component_type,
        location: advisory.component_location,
      },
    },
  };
}
