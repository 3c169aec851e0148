import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { dayOf } from "../../../kernel/src/lib/days.ts";
import { eventually } from "../../../server/test/support/eventually.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { type Json, type Platform, startPlatform } from "../../../server/test/support/platform.ts";

interface Row {
  groupUid: string;
  name: string;
  period: string;
  bytes?: string;
  bytesAtLeast: boolean;
  growth?: string;
  pulls?: string;
  trafficBytes?: string;
  incomplete: boolean;
  costLabels: Record<string, string>;
}
interface Usage extends Json {
  usage: Row[];
  csv: string;
}

const DAY_MS = 86_400_000;
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_WORK_POLL: "20ms" });
});
after(() => platform.close());

const list = (query: string): Promise<Usage> => platform.ok<Usage>("GET", `/registry/v2/usage?${query}`);
const textOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

async function measured(group: string, daysAgo: number, bytes: number, atLeast = 0): Promise<void> {
  const time = platform.clock.nowMs() - daysAgo * DAY_MS;
  await platform.transact(async (tx) => {
    await tx
      .insertInto("usage_days")
      .values({ grp: group, day: dayOf(time), bytes, at_least: atLeast, time })
      .execute();
  });
}

test("usage has bytes, growth and traffic by period; what is not known is absent, and never 0", async () => {
  const { organization } = platform;
  const { uid: team } = await platform.group(organization, { name: "team", costLabels: { "cost-center": "=4711" } });
  await pushImage(platform, "acme/team/app", "v1");
  const token = await platform.token(platform.owner, { audience: new URL(platform.url).host });
  await platform.call("GET", "/v2/acme/team/app/manifests/v1", { token });
  await measured(team, 3, 100);
  await measured(team, 1, 150);
  await measured(team, 0, 120, 1);
  const nowMs = platform.clock.nowMs();
  const query = `uidp.descendants_of=${team}&period=DAY&start_time=${textOf(nowMs - 3 * DAY_MS)}T00:00:00Z`;
  await eventually(async () => (await list(query)).usage.at(-1)?.pulls === "1");
  const { usage } = await list(query);
  const [before, unmeasured, grown, today] = usage;
  assert.deepEqual(
    usage.map(({ period }) => period),
    [3, 2, 1, 0].map((days) => textOf(nowMs - days * DAY_MS)),
  );
  assert.deepEqual(
    [before?.bytes, before?.growth, before?.pulls, before?.trafficBytes, before?.incomplete],
    ["100", undefined, undefined, undefined, false],
    "not counted, and not measured before",
  );
  assert.deepEqual([unmeasured?.bytes, unmeasured?.growth], [undefined, undefined]);
  assert.deepEqual([grown?.bytes, grown?.growth], ["150", "50"]);
  assert.deepEqual(
    [today?.bytes, today?.bytesAtLeast, today?.growth, today?.incomplete],
    ["120", true, undefined, true],
    "of a lower bound no growth is known, and pulls are counted only since a time of this day",
  );
  assert.ok(Number(today?.trafficBytes) > 0);
  assert.deepEqual(today?.costLabels, { "cost-center": "=4711" });

  const { csv } = await list(`${query}&format=CSV`);
  const lines = csv.trimEnd().split("\r\n");
  assert.equal(
    lines[0],
    "group_uid,group,period,bytes,bytes_at_least,growth,pulls,traffic_bytes,incomplete,label:cost-center",
  );
  assert.equal(lines[1], `${team},team,${textOf(nowMs - 3 * DAY_MS)},100,false,,,,false,'=4711`);
  const { usage: months } = await list(`uidp.descendants_of=${organization}`);
  assert.deepEqual(
    [...new Set(months.map(({ name }) => name))].sort(),
    ["acme", "team"],
    "the group, and those directly below it",
  );
  assert.deepEqual([months.length, months[0]?.period.length], [24, "2026-11".length]);
  for (const bad of ["start_time=2020-01-01T00:00:00Z&period=DAY", "page_size=-1", "uidp.in_root=true"])
    assert.equal(
      (await platform.call("GET", `/registry/v2/usage?${bad}`, { token: await platform.token() })).status,
      400,
    );
  for (const costLabels of [{ "": "x" }, { [`k${"e".repeat(63)}y`]: "x" }, { key: "v".repeat(257) }]) {
    const body = { costLabels };
    const answer = await platform.call("PATCH", `/iam/v2/groups/${team}`, { token: await platform.token(), body });
    assert.equal(answer.status, 400, answer.text);
  }
  const stranger = await platform.token(await platform.identity(organization));
  const empty = await platform.call("GET", "/registry/v2/usage", { token: stranger });
  assert.deepEqual([empty.status, empty.body["usage"]], [200, []]);
});

test("reports name what runs, and say which references they do not know", async () => {
  const digest = await pushImage(platform, "acme/runs", "v1");
  const other = `sha256:${"0".repeat(64)}`;
  const { uid: elsewhere } = await platform.group(platform.organization, { name: "elsewhere" });
  const reporter = await platform.identity(elsewhere, "owner");
  await pushImage(platform, "acme/elsewhere/app", "v1");
  const report = async (references: object[], identity?: string) =>
    await platform.call("POST", "/registry/v2/usage:report", {
      token: await platform.token(identity),
      body: { source: "staging", references },
    });
  const future = new Date(platform.clock.nowMs() + 30 * DAY_MS).toISOString();
  const references = [
    { image: "acme/runs", digest, time: future },
    { image: "acme/runs", digest: other },
    { image: "acme/elsewhere/app", digest },
    { image: "nobody/knows", digest },
  ];
  const answer = await report(references);
  assert.deepEqual([answer.body["recorded"], answer.body["unknown"]], [2, [1, 3]], answer.text);
  const rows = await platform.reader.selectFrom("running_images").selectAll().execute();
  assert.ok(
    rows.every(({ time }) => Number(time) <= platform.clock.nowMs()),
    "a report is never of the future",
  );
  const own = await report(references, reporter);
  assert.deepEqual([own.body["recorded"], own.body["unknown"]], [1, [0, 1, 3]], "only where the caller may report");
  const viewer = await platform.identity(platform.organization, "viewer");
  assert.equal((await report(references, viewer)).status, 403);
  assert.equal((await report([])).status, 400);
});
