import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eventually } from "../../../server/test/support/eventually.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";

// What ends with a group or a repo is in the feed by events of its own, before the end of what it was in.

let platform: Platform;
before(async () => {
  platform = await startPlatform();
});
after(() => platform?.close());

interface FeedEvent {
  type: string;
  subject: string;
  data: { body: Record<string, unknown> };
}

/** What the organization's feed has of the work, once nothing is left to number. */
async function feedOf(work: () => Promise<unknown>): Promise<FeedEvent[]> {
  const path = `/events/v2/events?group=${platform.organization}&pageSize=1000&cursor=`;
  const settled = () =>
    eventually(
      async () => (await platform.reader.selectFrom("event_outbox").select("n").executeTakeFirst()) === undefined,
    );
  await settled();
  let cursor = (await platform.ok("GET", `${path}now`))["nextCursor"] as unknown as string;
  await work();
  await settled();
  const found: FeedEvent[] = [];
  for (let more = true; more;) {
    const page = await platform.ok("GET", `${path}${encodeURIComponent(cursor)}`);
    found.push(...(page["events"] as unknown as FeedEvent[]));
    ({ nextCursor: cursor, more } = page as unknown as { nextCursor: string; more: boolean });
  }
  return found;
}

const shown = (events: FeedEvent[]): [string, string][] =>
  events.map(({ type, subject }) => [type.replace("dev.moorage.api.", ""), subject]);

test("a group's end comes with its bindings and its account association", async () => {
  const { uid: group } = await platform.group(platform.organization);
  const identity = await platform.identity(platform.organization);
  const bindings = [await platform.bind(group, identity, await platform.role("viewer"))];
  bindings.push(await platform.bind(group, identity, await platform.role("owner")));
  await platform.ok("POST", `/iam/v2/accountAssociations/${group}`, { name: "accounts" });
  const events = await feedOf(() => platform.ok("DELETE", `/iam/v2/groups/${group}`));
  assert.deepEqual(shown(events), [
    ...bindings.toSorted().map((uid) => ["iam.rolebindings.deleted.v1", uid]),
    ["iam.account_associations.deleted.v1", group],
    ["iam.group.deleted.v1", group],
  ]);
  assert.deepEqual(events.at(-2)?.data.body, { uid: group });
});

test("a repo's end comes with its tags, and counts them", async () => {
  const { uid: repo } = await platform.repo(platform.organization);
  const { uid: first } = await platform.tag(repo, { name: "a", bundles: ["b"] });
  const { uid: second, digest } = await platform.tag(repo, { name: "b" });
  const events = await feedOf(() => platform.ok("DELETE", `/registry/v2/repos/${repo}`));
  assert.deepEqual(shown(events), [
    ["platform.registry.tag.deleted.v1", first],
    ["platform.registry.tag.deleted.v1", second],
    ["platform.registry.repo.deleted.v1", repo],
  ]);
  assert.deepEqual(events[0]?.data.body, {
    uid: first,
    name: "a",
    digest,
    previousDigest: "",
    reason: "delete",
    deprecated: false,
    bundles: ["b"],
  });
  assert.deepEqual(events[2]?.data.body, { uid: repo, tagCount: 2 });
});
