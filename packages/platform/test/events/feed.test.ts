import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Event, EventsService } from "@moorage/api";
import { both } from "../../../server/test/support/rest-and-grpc.ts";
import { type Answer, blamed, DIGEST, type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { jsonOf } from "../../../server/test/support/json-of.ts";
import type { Row } from "../../../kernel/src/store/index.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// The answers of the feed: events as CloudEvents, filters, cursors, and the limit of the events that a page looks at.

let platform: Platform;

before(async () => {
  platform = await startPlatform({ MOORAGE_ALLOW_PRIVATE_NETWORK: "true", MOORAGE_EVENTS_PREFIX: "com.example" });
});
after(() => platform.close());

interface Page {
  events: (Omit<Event, "time"> & { time: string })[];
  nextCursor: string;
  more: boolean;
}
interface Asked {
  group: string;
  cursor?: string;
  pageSize?: number;
  typePrefixes?: string[];
  subjectPrefixes?: string[];
}

/** The page of the request; REST and gRPC must answer the same. */
const asked = async (request: Asked, token?: string): Promise<Answer> =>
  await both(platform, EventsService.method.listEvents, request, token ?? (await platform.token()));
async function page(request: Asked): Promise<Page> {
  const answer = await asked(request);
  assert.equal(answer.status, 200, answer.text);
  return jsonOf<Page>(answer);
}

/** Waits until the events of all changes are in the feed. */
async function settled(): Promise<void> {
  await eventually(
    async () => (await platform.reader.selectFrom("event_outbox").select("n").executeTakeFirst()) === undefined,
  );
}

/** Makes a group with a repo, and waits until their events are in the feed. */
async function place(parent: string = platform.organization): Promise<{ group: string; repo: string }> {
  const { uid: group } = await platform.group(parent);
  const { uid: repo } = await platform.repo(group);
  await settled();
  return { group, repo };
}

const typesOf = ({ events }: Page): string[] => events.map(({ type }) => type.replace("com.example.api.", ""));

test("an event is a CloudEvent in the JSON format, with the same data as a delivery", async () => {
  const { group, repo } = await place();
  const start = (await page({ group, cursor: "now" })).nextCursor;
  const { uid } = await platform.tag(repo, { name: "v1", bundles: ["a"] });
  await settled();
  const {
    events: [event, ...others],
    more,
  } = await page({ group, cursor: start });
  assert.deepEqual([others, more], [[], false]);
  const row = (await platform.reader
    .selectFrom("events")
    .selectAll()
    .where("subject", "=", uid)
    .executeTakeFirstOrThrow()) as Row<"events">;
  assert.deepEqual(event, {
    specversion: "1.0",
    id: row.id,
    source: platform.bootstrap.baseUrl,
    type: "com.example.api.platform.registry.tag.created.v1",
    subject: uid,
    time: new Date(row.time).toISOString(),
    datacontenttype: "application/json",
    data: { actor: JSON.parse(row.actor), body: JSON.parse(row.body) },
    group,
    audience: "customer",
    actor: platform.owner,
    sequence: "1",
  });
  assert.deepEqual(event?.data, {
    actor: { subject: platform.owner, act: {} },
    body: { uid, name: "v1", digest: DIGEST, previousDigest: "", reason: "api", deprecated: false, bundles: ["a"] },
  });
});

test("the feed has the events of the group and of all groups below it, in order, by pages and by filters", async () => {
  const { group, repo } = await place();
  const below = await place(group);
  await place();
  await platform.tag(repo);
  await platform.tag(below.repo);
  // An event for one subscription alone is not in the feed.
  const { uid: subscription } = await platform.subscription(group);
  await platform.ok("POST", `/events/v2/subscriptions/${subscription}:test`);
  await settled();
  const types = [
    "iam.group",
    "platform.registry.repo",
    "iam.group",
    "platform.registry.repo",
    "platform.registry.tag",
    "platform.registry.tag",
    "events.subscription",
  ].map((type) => `${type}.created.v1`);
  const whole = await page({ group });
  assert.deepEqual([typesOf(whole), whole.more], [types, false]);
  const found: string[] = [];
  for (let cursor = "", more = true; more;) {
    const part = await page({ group, cursor, pageSize: 2 });
    found.push(...typesOf(part));
    ({ more, nextCursor: cursor } = part);
  }
  assert.deepEqual(found, types);
  assert.deepEqual(typesOf(await page({ group: below.group })), [
    "iam.group.created.v1",
    "platform.registry.repo.created.v1",
    "platform.registry.tag.created.v1",
  ]);
  const count = async (filters: Partial<Asked>): Promise<number> => (await page({ group, ...filters })).events.length;
  assert.deepEqual(
    await Promise.all([
      count({ typePrefixes: ["com.example.api.iam."] }),
      count({ typePrefixes: ["com.example.api.platform.registry.tag", "com.example.api.iam."] }),
      count({ typePrefixes: ["com.exam"] }),
      count({ typePrefixes: ["com.example."] }),
      count({ typePrefixes: ["com.example.registry."] }),
      count({ subjectPrefixes: [repo] }),
      count({ subjectPrefixes: [below.group] }),
      count({ subjectPrefixes: [repo, below.repo], typePrefixes: ["com.example.api.platform.registry.tag."] }),
    ]),
    [2, 4, 7, 7, 0, 2, 3, 2],
  );
});

test("a cursor is valid for its group and filters alone, and cannot be forged", async () => {
  const { group } = await place();
  const other = await place();
  const filters = { typePrefixes: ["com.example.api.", "com.example.registry."], subjectPrefixes: [group] };
  const { nextCursor: cursor } = await page({ group, ...filters, pageSize: 1 });
  const { nextPageToken } = await platform.ok("GET", "/iam/v2/roles?page_size=1");
  assert.deepEqual(
    (await page({ group, cursor, typePrefixes: filters.typePrefixes.toReversed(), subjectPrefixes: [group] })).events
      .length,
    1,
  );
  const forged = Buffer.from(cursor, "base64url");
  forged.writeUInt8(forged.readUInt8(forged.length - 3) ^ 1, forged.length - 3);
  const wrong: Asked[] = [
    { group, cursor: forged.toString("base64url"), ...filters },
    { group, cursor: `${cursor}A`, ...filters },
    { group, cursor: "Now", ...filters },
    { group, cursor: "x".repeat(10_000), ...filters },
    { group, cursor: nextPageToken, ...filters },
    { group: other.group, cursor, ...filters },
    { group: platform.organization, cursor, ...filters },
    { group, cursor },
    { group, cursor, ...filters, subjectPrefixes: [] },
    { group, cursor, ...filters, typePrefixes: ["com.example.api."] },
  ];
  for (const request of wrong) {
    const answer = await asked(request);
    assert.deepEqual([answer.status, answer.body.code, blamed(answer)], [400, 3, ["cursor"]], JSON.stringify(request));
  }
  // Nor is a cursor a page token.
  assert.deepEqual(
    blamed(await platform.call("GET", `/iam/v2/roles?page_token=${cursor}`, { token: await platform.token() })),
    ["page_token"],
  );
});

test("an invalid request is rejected with all its invalid fields", async () => {
  const { group } = await place();
  const many = Array.from({ length: 65 }, () => "com.example.api.");
  for (const [request, fields] of [
    [{ group, pageSize: -1, typePrefixes: many }, ["page_size", "typePrefixes"]],
    [{ group: "" }, ["group"]],
    [
      { group, typePrefixes: ["com.example.api.", "dev.moorage.registry."], subjectPrefixes: ["x"] },
      ["typePrefixes[1]", "subjectPrefixes[0]"],
    ],
  ] as const)
    assert.deepEqual(blamed(await asked(request as Asked)), fields);
  const { uid: gone } = await platform.group(group);
  await platform.ok("DELETE", `/iam/v2/groups/${gone}`);
  for (const unknown of [gone, `${group}/${"0".repeat(16)}`, "0".repeat(40), "x"])
    assert.equal((await asked({ group: unknown })).status, 404, unknown);
  const viewer = await platform.token(await platform.identity(group, "viewer"));
  await settled();
  assert.equal((await asked({ group }, viewer)).status, 403);
  assert.equal((await asked({ group, pageSize: 1_000_000 })).status, 200);
});

test("the cursor `now` is before the next event, and an empty answer is not cached once there is one", async () => {
  const { group, repo } = await place();
  const { events, nextCursor: cursor, more } = await page({ group, cursor: "now" });
  assert.deepEqual([events, more], [[], false]);
  const url = `/events/v2/events?group=${group}&cursor=${cursor}`;
  const subjects = async (): Promise<string[]> =>
    ((await platform.ok("GET", url))["events"] as Event[]).map(({ subject }) => subject);
  assert.deepEqual(await subjects(), []);
  const { uid } = await platform.tag(repo);
  // The feed is read before the event has its number, and after.
  const found = await eventually(async () => {
    const now = await subjects();
    return now.length > 0 && now;
  });
  assert.deepEqual(found, [uid]);
});

test("a page looks at a limited number of events of others, and the next one continues from there", async () => {
  const { uid: organization } = await platform.ok("POST", "/iam/v2/groups", { name: "crowded" });
  const busy = await place(organization);
  const quiet = await place(organization);
  const { nextCursor: start } = await page({ group: quiet.group, cursor: "now" });
  const { uid } = await platform.tag(quiet.repo);
  await settled();
  await crowd(organization, busy.group, 4_500);
  const { uid: last } = await platform.tag(quiet.repo);
  await settled();
  const pages: { subjects: string[]; more: boolean }[] = [];
  for (let cursor = start, more = true; more;) {
    const part = await page({ group: quiet.group, cursor });
    pages.push({ subjects: part.events.map(({ subject }) => subject), more: part.more });
    ({ more, nextCursor: cursor } = part);
  }
  assert.deepEqual(pages, [
    { subjects: [uid], more: true },
    { subjects: [], more: true },
    { subjects: [last], more: false },
  ]);
});

/** Adds events of the group as if they had happened. */
async function crowd(organization: string, group: string, count: number): Promise<void> {
  await platform.transact(async (tx) => {
    const { number } = await tx
      .selectFrom("event_numbers")
      .select("number")
      .where("subject", "=", "")
      .executeTakeFirstOrThrow();
    for (let at = 0; at < count; at += 500) {
      await tx
        .insertInto("events")
        .values(
          Array.from({ length: 500 }, (_, next): Row<"events"> => ({
            seq: number + at + next + 1,
            id: `${group}${at + next}`,
            type: "registry.pull.v1",
            subject: group,
            parent: group,
            organization,
            target: "",
            number: at + next + 1,
            time: 0,
            actor: "{}",
            body: "{}",
          })),
        )
        .execute();
    }
    await tx
      .updateTable("event_numbers")
      .set({ number: number + count })
      .where("subject", "=", "")
      .execute();
  });
}

test("the cursor recent begins among the last events, and has missed nothing", async () => {
  const { group } = await place();
  const recent = await page({ group, cursor: "recent" });
  assert.deepEqual(typesOf(recent), ["iam.group.created.v1", "platform.registry.repo.created.v1"]);
  await platform.repo(group);
  await settled();
  const next = await page({ group, cursor: recent.nextCursor });
  assert.deepEqual(typesOf(next), ["platform.registry.repo.created.v1"]);
});
