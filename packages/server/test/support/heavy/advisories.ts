// Documents of what a group has decided.
import { sql } from "kysely";
import { POSTGRES, SQLITE } from "../../../../../bench/seed-sql.ts";
import { ENGINE } from "../database.ts";
import type { HeavyInput, HeavyWorld } from "./input.ts";

/** The most decisions of one document, each with a note of some length. */
const DECISIONS = 5_000;
const NOTE = "n".repeat(2_000);

/** Makes an advisory with these events by the API, and copies its rows until there are so many. */
export async function decideMany(world: HeavyWorld, count: number, events: readonly object[]): Promise<void> {
  const group = world.organization.uid;
  const advisory = { artifactName: "artifact", artifactType: "NPM", aliases: ["CVE-2026-1"], events };
  const { status, text } = await world.send("POST", `/vulnerabilities/v2/advisories/${group}`, {
    token: world.platform,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(advisory),
  });
  if (status !== 200) throw new Error(`${status} ${text}`);
  await world.write(async (db) => {
    const { series, pad } = ENGINE === "sqlite" ? SQLITE : POSTGRES;
    const uid = `'${group}/000000000' || ${pad("s.i")}`;
    const many = series(count - 1);
    await sql
      .raw(
        `insert into advisories (uid, parent, advisory_id, author, artifact_name, artifact_type, artifact_architecture, component_name, component_location, component_type, aliases, legacy_advisory_id, severities, origin, latest_type, create_time, update_time, delete_time)
        select ${uid}, a.parent, 'HEAVY-' || ${pad("s.i")}, a.author, 'artifact-' || ${pad("s.i")}, a.artifact_type, a.artifact_architecture, a.component_name, a.component_location, a.component_type, a.aliases, a.legacy_advisory_id, a.severities, a.origin, a.latest_type, a.create_time, a.update_time, a.delete_time
          from (select * from advisories limit 1) as a cross join ${many} as s`,
      )
      .execute(db);
    await sql
      .raw(
        `insert into advisory_events (uid, parent, type, content, findings, issue, author, reviewer, review_state, review_time, create_time)
        select ${uid} || substr(e.uid, length(e.parent) + 1), ${uid}, e.type, e.content, e.findings, e.issue, e.author, e.reviewer, e.review_state, e.review_time, e.create_time
          from (select * from advisory_events limit ${events.length}) as e cross join ${many} as s`,
      )
      .execute(db);
  });
}

const exported = (title: string, path: string): HeavyInput => ({
  title,
  statuses: [200, 429],
  async prepare(world) {
    await decideMany(world, DECISIONS, [{ truePositiveDetermination: { note: NOTE }, reviewState: "APPROVED" }]);
    return (began) =>
      world.send("GET", `/vulnerabilities/v2/groups/${world.organization.uid}/${path}`, {
        token: world.platform,
        ...(began && { began }),
      });
  },
});

export const ADVISORIES: readonly HeavyInput[] = [
  exported("the OpenVEX document of 5,000 decisions", "vex"),
  exported("the CSAF document of 5,000 decisions", "vex?format=VEX_FORMAT_CSAF"),
  exported("the OSV records of 5,000 decisions", "osv"),
];
