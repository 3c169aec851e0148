import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock } from "../../../kernel/src/lib/clock.ts";
import type { CommandWriter } from "../../../kernel/src/core/transactor.ts";
import { tarOf } from "../../../server/test/support/catalog/archives.ts";
import { npmFile } from "../../../server/test/support/catalog/catalog.ts";
import { pushLayers } from "../../../server/test/support/catalog/push.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { osvOf, putRecords } from "../../../server/test/support/feed-records.ts";
import { before as affectedBefore } from "../../../server/test/support/matching.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { openCall } from "../../../server/src/runtime/open-call.ts";
import { findingDaysRetention, measureFindings } from "../../src/security/finding-days/measure.ts";

// What was open at the end of each day, by group.

interface Day {
  day: string;
  open?: Record<string, string>;
  countTime?: string;
  unknownImages: number;
  unknownAtLeast: boolean;
  incomplete: boolean;
}

const DAY_MS = 86_400_000;
const CRITICAL = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }] };
const MEDIUM = { severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:L/I:L/A:L" }] };
const LATER = "2026-11-20T00:00:00Z";
const PAD = npmFile("app", "left-pad", "1.0.0");
const ZEROS = { critical: "0", high: "0", medium: "0", low: "0", negligible: "0", none: "0", unknown: "0" };

let platform: Platform;
let team = "";
let other = "";
before(async () => {
  platform = await startPlatform({ MOORAGE_CATALOG_IMAGES: "1", MOORAGE_WORK_POLL: "20ms" });
  team = (await platform.group(platform.organization, { name: "team" })).uid;
  other = (await platform.group(platform.organization, { name: "other" })).uid;
});
after(() => platform.close());

async function push(path: string, tag: string, layers: readonly Buffer[]): Promise<string> {
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  return await pushLayers({ url: platform.url, token, name: `acme/${path}` }, tag, [...layers]);
}

const writer: CommandWriter = {
  write: async (command, data, input) =>
    await platform.transact(async (tx) => await command.run(openCall(data, tx), input, undefined as never)),
};
const deps = () => ({ writer, reader: platform.reader, clock: systemClock });
const signal = new AbortController().signal;
const count = async (): Promise<unknown> => await measureFindings(deps(), signal);
const text = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);
const list = async (query: string): Promise<Day[]> =>
  (await platform.ok<Json & { days: Day[] }>("GET", `/vulnerabilities/v2/findingDays?${query}`)).days;
const today = async (group: string): Promise<Day | undefined> => (await list(`uidp.descendants_of=${group}`)).at(-1);
const opened = (findings: number): Promise<unknown> =>
  eventually(async () => {
    const found = await platform.ok<Json>("GET", "/vulnerabilities/v2/findings");
    const checks = await platform.reader.selectFrom("finding_checks").select("digest").execute();
    const causes = await platform.reader.selectFrom("finding_causes").select("id").execute();
    return (found["findings"] as unknown[]).length === findings && checks.length === 0 && causes.length === 0;
  });

test("a day has what was open in a group at its end; a day without a count is not known, and not 0", async () => {
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-1", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0"), ...CRITICAL }),
    osvOf("GHSA-2", { aliases: ["CVE-2026-2"], ...affectedBefore("left-pad", "3.0.0"), ...MEDIUM }),
  ]);
  await push("team/app", "v1", [tarOf([PAD])]);
  await push("other/app", "v1", [tarOf([npmFile("app", "left-pad", "2.0.0")])]);
  await opened(3);
  const days = await list(`uidp.descendants_of=${team}`);
  assert.equal(days.length, 90);
  assert.deepEqual([days.at(-1)?.day, days.at(-1)?.open], [text(platform.clock.nowMs()), undefined], "no count yet");
  await count();
  const counted = await today(team);
  assert.deepEqual(counted?.open, { ...ZEROS, critical: "1", medium: "1" });
  assert.deepEqual([counted.unknownImages, counted.unknownAtLeast, counted.incomplete], [0, false, false]);
  assert.ok(Math.abs(Date.parse(counted.countTime ?? "") - platform.clock.nowMs()) < 3_600_000);
  assert.deepEqual((await today(other))?.open, { ...ZEROS, medium: "1" });
  assert.deepEqual((await today(platform.organization))?.open, { ...ZEROS, critical: "1", medium: "2" });
  assert.equal((await list(`uidp.descendants_of=${team}`)).filter(({ open }) => open !== undefined).length, 1);
});

test("the last count of a day counts: tags that moved, severities that changed, images that nobody could read", async () => {
  await putRecords(platform, "github", "osv", [
    osvOf("GHSA-1", { aliases: ["CVE-2026-1"], ...affectedBefore("left-pad", "1.5.0"), ...MEDIUM, modified: LATER }),
  ]);
  await eventually(async () => {
    await count();
    return (await today(team))?.open?.["medium"] === "2";
  });
  assert.deepEqual((await today(team))?.open, { ...ZEROS, medium: "2" }, "it is not critical any more");
  await push("team/app", "v1", [tarOf([npmFile("app", "left-pad", "2.0.0")])]);
  await push("team/odd", "v1", [Buffer.from("no archive")]);
  await eventually(async () => {
    await count();
    return (await today(team))?.open?.["medium"] === "1" && (await today(team))?.unknownImages === 1;
  });
  assert.equal((await today(other))?.unknownImages, 0);
  assert.equal((await today(platform.organization))?.unknownImages, 1);
});

test("days are those of the caller's groups, a group that was not counted is said, and old ones go", async () => {
  const stranger = await platform.identity(other, "viewer");
  const token = await platform.token(stranger);
  const asked = async (query: string): Promise<Day | undefined> => {
    const answer = await platform.call("GET", `/vulnerabilities/v2/findingDays?${query}`, { token });
    return (answer.body as Json & { days: Day[] }).days.at(-1);
  };
  const own = (await today(other))?.open;
  assert.deepEqual((await asked(""))?.open, own, "without a group: those that it may list");
  assert.deepEqual((await asked(`uidp.descendants_of=${platform.organization}`))?.open, own);
  assert.equal((await asked(`uidp.descendants_of=${team}`))?.open, undefined);

  const both = await platform.identity(platform.organization);
  for (const group of [team, other]) await platform.bind(group, both, await platform.role("viewer"));
  const yesterday = platform.clock.nowMs() - DAY_MS;
  await platform.transact(async (tx) => {
    await tx
      .updateTable("groups")
      .set({ create_time: yesterday - DAY_MS })
      .where("uid", "in", [team, other])
      .execute();
    const row = await tx.selectFrom("finding_days").selectAll().where("grp", "=", team).executeTakeFirstOrThrow();
    for (const days of [1, 399, 400, 401])
      await tx
        .insertInto("finding_days")
        .values({ ...row, day: Number(row.day) - days })
        .execute();
  });
  const answer = await platform.call("GET", "/vulnerabilities/v2/findingDays", { token: await platform.token(both) });
  const days = (answer.body as Json & { days: Day[] }).days;
  assert.deepEqual([days.at(-1)?.incomplete, days.at(-2)?.incomplete], [false, true]);
  assert.equal(days.at(-3)?.open, undefined);

  const retained = await findingDaysRetention({ ...deps(), retentionMs: 400 * DAY_MS }, signal);
  assert.deepEqual(retained, { findings: 1 });
  await assert.rejects(findingDaysRetention({ ...deps(), retentionMs: DAY_MS }, AbortSignal.abort()));
  for (const bad of ["start_time=2020-01-01T00:00:00Z", "uidp.in_root=true"])
    assert.equal((await platform.call("GET", `/vulnerabilities/v2/findingDays?${bad}`, { token })).status, 400, bad);
});
