import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { type Platform, rows, startPlatform } from "../support/platform.ts";

// Whether filters by time include their bounds: as the comments of the .proto files say, tested at the millisecond and
// between two of them. Times of resources have whole milliseconds.
let platform: Platform;
before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "1" });
});
after(() => platform.close());

/** The time so many nanoseconds after another one, both as RFC 3339. */
function timeAfter(time: string, nanoseconds: number): string {
  const total = BigInt(Date.parse(time)) * 1_000_000n + BigInt(nanoseconds);
  const seconds = new Date(Number(total / 1_000_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(total % 1_000_000_000n).padStart(9, "0")}Z`;
}
const MS = 1_000_000;

async function found(list: string, plural: string, parameters: Record<string, string>): Promise<string[]> {
  const query = new URLSearchParams(parameters).toString();
  const answered = await platform.ok("GET", `${list}${list.includes("?") ? "&" : "?"}${query}`);
  const uids = (await rows(answered, plural)).map(({ uid }) => uid);
  assert.equal(answered.totalCount, String(uids.length), `${list} ${query}`);
  return uids;
}

/** Asserts at which offsets from the resource's time the bound still finds it, in nanoseconds. */
async function check(
  { list, plural, parameter }: { list: string; plural: string; parameter: string },
  { uid, time }: { uid: string; time: string },
  finds: (offset: number) => boolean,
): Promise<void> {
  for (const offset of [-MS, -1, 0, 1, MS - 1, MS]) {
    const at = timeAfter(time, offset);
    const uids = await found(list, plural, { [parameter]: at });
    assert.equal(uids.includes(uid), finds(offset), `${parameter} ${at}, of what has ${time}`);
  }
}

test("updated_since of tags includes its time", async () => {
  const repo = await platform.repo(platform.organization);
  const { uid } = await platform.tag(repo.uid, { name: "1.0" });
  const { updateTime: time } = await platform.ok("GET", `/registry/v2/tags/${uid}`);
  const list = `/registry/v2/tags?uidp.children_of=${repo.uid}`;
  await check({ list, plural: "tags", parameter: "updated_since" }, { uid, time }, (offset) => offset <= 0);
  // A tag that moves meets the filter from then on, and a page token goes on with it.
  platform.clock.offsetMs += 5;
  const moved = await platform.ok("POST", `/registry/v2/tags/${repo.uid}`, {
    name: "1.0",
    digest: `sha256:${"b".repeat(64)}`,
  });
  assert.ok(moved.updateTime > time);
  await check({ list, plural: "tags", parameter: "updatedSince" }, { uid, time: moved.updateTime }, (at) => at <= 0);
});

test("since of the audit log includes its time, until does not", async () => {
  const { uid: group } = await platform.group(platform.organization);
  const list = `/iam/v2/auditEntries?resource=${group}`;
  const [entry] = await rows(platform.ok("GET", list), "auditEntries");
  const { uid, createTime: time } = entry ?? assert.fail("no entry");
  await check({ list, plural: "auditEntries", parameter: "since" }, { uid, time }, (offset) => offset <= 0);
  await check({ list, plural: "auditEntries", parameter: "until" }, { uid, time }, (offset) => offset > 0);
});

test("start_time and end_time of deliveries include their times", async () => {
  const { uid: group } = await platform.group(platform.organization);
  const subscription = await platform.subscription(group);
  await platform.repo(group);
  const list = `/events/v2/deliveries?uidp.children_of=${subscription.uid}`;
  // Both events, so that none becomes a delivery between the count and the page of an answer: the subscription's
  // creation and the repo's.
  const [delivery] = await eventually(async () => {
    const deliveries = await rows(platform.ok("GET", list), "deliveries");
    return deliveries.length >= 2 && deliveries;
  });
  const { uid, createTime: time } = delivery ?? assert.fail("no delivery");
  await check({ list, plural: "deliveries", parameter: "start_time" }, { uid, time }, (offset) => offset <= 0);
  await check({ list, plural: "deliveries", parameter: "end_time" }, { uid, time }, (offset) => offset >= 0);
});
