// Lists of the API of which every row is as large as it may be, read to their last page.
import { sql } from "kysely";
import { POSTGRES, SQLITE } from "../../../../../bench/seed-sql.ts";
import { ENGINE } from "../database.ts";
import { eventually } from "../eventually.ts";
import type { HeavyAnswer, HeavyInput, HeavyWorld } from "./input.ts";
import { decideMany } from "./advisories.ts";

const IDENTITIES = 100;
/** Nearly 128 KiB in all: as much as an identity may say of the tokens that it accepts. */
const CLAIMS = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`claim${n}`, "c".repeat(2_000)]));
const ADVISORIES = 100;
const EVENTS = 100;
const EVENTS_OF_FEED = 300;
const NOTE = "n".repeat(500);

async function post(world: HeavyWorld, path: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { status, text } = await world.send("POST", path, {
    token: world.platform,
    headers,
    body: JSON.stringify(body),
  });
  if (status !== 200) throw new Error(`${status} ${text}`);
}

/** `next`: the query of the page after this one, undefined after the last. */
async function everyPage(
  world: HeavyWorld,
  path: string,
  next: (page: Record<string, unknown>) => string | undefined,
  began?: (status: number) => void,
): Promise<HeavyAnswer> {
  for (let query: string | undefined = ""; ;) {
    const answer: HeavyAnswer = await world.send("GET", `${path}${query}`, { token: world.platform, whole: true });
    query = answer.status === 200 ? next(JSON.parse(answer.text) as Record<string, unknown>) : undefined;
    if (query !== undefined) continue;
    began?.(answer.status);
    return answer;
  }
}

const byToken = ({ nextPageToken }: Record<string, unknown>): string | undefined =>
  typeof nextPageToken !== "string" || nextPageToken === "" ? undefined : `&page_token=${nextPageToken}`;

export const LISTS: readonly HeavyInput[] = [
  {
    title: "a list of 100 identities with the largest claims",
    statuses: [200],
    async prepare(world) {
      const group = world.organization.uid;
      for (let n = 0; n < IDENTITIES; n++)
        await post(world, `/iam/v2/identities/${group}`, {
          name: `heavy-${n}`,
          claimMatch: { issuer: "https://issuer.example", subject: `s${n}`, claims: CLAIMS },
        });
      return (began) => everyPage(world, "/iam/v2/identities?page_size=200", byToken, began);
    },
  },
  {
    title: "a list of 100 advisories of 100 events",
    statuses: [200],
    async prepare(world) {
      const events = Array.from({ length: EVENTS }, () => ({
        truePositiveDetermination: { note: NOTE },
        reviewState: "APPROVED",
      }));
      await decideMany(world, ADVISORIES, events);
      return (began) => everyPage(world, "/vulnerabilities/v2/advisories?page_size=200", byToken, began);
    },
  },
  {
    title: "a feed of 300 events of 56 KiB",
    statuses: [200],
    async prepare(world) {
      const group = world.organization.uid;
      await post(world, `/vulnerabilities/v2/advisories/${group}`, {
        artifactName: "artifact",
        artifactType: "NPM",
        aliases: ["CVE-2026-1"],
        events: Array.from({ length: 28 }, () => ({ truePositiveDetermination: { note: "n".repeat(2_000) } })),
      });
      // Events get their numbers later.
      const columns = "type, subject, parent, organization, target, number, time, actor, body";
      const found = "from events where type like '%advisor%' and length(body) > 50000 order by seq limit 1";
      await eventually(async () => {
        let count = 0;
        await world.write(async (db) => {
          const { series, pad } = ENGINE === "sqlite" ? SQLITE : POSTGRES;
          const copied = await sql
            .raw(
              `insert into events (seq, id, ${columns}) select (select max(seq) from events) + 1 + s.i, e.id || ${pad("s.i")}, ${columns}
                 from (select id, ${columns} ${found}) as e cross join ${series(EVENTS_OF_FEED)} as s`,
            )
            .execute(db);
          count = Number(copied.numAffectedRows ?? 0);
          if (count > 0) await sql`update event_numbers set number = number + ${count} where subject = ''`.execute(db);
        });
        return count > 0;
      });
      const path = `/events/v2/events?group=${group}&page_size=200`;
      const byCursor = ({ more, nextCursor }: Record<string, unknown>): string | undefined =>
        more === true ? `&cursor=${String(nextCursor)}` : undefined;
      return (began) => everyPage(world, path, byCursor, began);
    },
  },
  {
    title: "v1's list of 50 repos with the largest readmes",
    statuses: [200],
    // The pages of readmes are few.
    pings: 3,
    async prepare(world) {
      const readme = "r".repeat(500_000);
      for (let n = 0; n < 50; n++)
        await post(world, `/registry/v2/repos/${world.organization.uid}`, { name: `heavy-${n}`, readme });
      // The answer is that all of it has come.
      return async (began) => {
        const answer = await world.send("GET", "/registry/v1/repos", { token: world.platform });
        began?.(answer.status);
        return answer;
      };
    },
  },
];
