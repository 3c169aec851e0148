import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { EventsService } from "@moorage/api";
import { startInstallation } from "../../../server/test/support/installation.ts";
import { endOf, type Grpc, openConnect, openGrpc, openGrpcWeb } from "../../../server/test/support/grpc.ts";
import { type Platform, startPlatform } from "../../../server/test/support/platform.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Streams of the feed: where they begin, what they send, and what ends them.

let platform: Platform;
let clients: Record<string, Grpc>;

before(async () => {
  platform = await startPlatform();
  clients = { grpc: platform.grpc, "gRPC-Web": openGrpcWeb(platform.url), Connect: openConnect(platform.url) };
});
after(async () => {
  for (const client of Object.values(clients)) client.close();
  await platform.close();
});

const LIMIT = { timeout: 300_000 };
interface Message {
  subject: string | undefined;
  cursor: string;
}
/** An open stream: the messages it has sent, and the status it ended with. */
interface Watched {
  messages: Message[];
  ended: Promise<{ code: number; message: string }>;
  leave(): void;
  begun(): Promise<Message>;
  events(count: number): Promise<Message[]>;
}

function watch(
  t: TestContext,
  grpc: Grpc,
  request: { group: string; cursor?: string; subjectPrefixes?: string[] },
  token: string,
): Watched {
  const messages: Message[] = [];
  const left = new AbortController();
  const read = async (): Promise<{ code: number; message: string }> => {
    try {
      for await (const { event, cursor } of grpc.stream(EventsService.method.watchEvents, request, token, left.signal))
        messages.push({ subject: event?.subject, cursor });
      return { code: 0, message: "" };
    } catch (error) {
      return endOf(error) as { code: number; message: string };
    }
  };
  let isOpen = true;
  const ended = read().finally(() => (isOpen = false));
  t.after(async () => {
    left.abort();
    await ended;
  });
  const enough = (those: () => Message[], count: number): Promise<Message[]> =>
    eventually(
      () => {
        const found = those();
        if (found.length >= count) return found.slice(0, count);
        assert.ok(isOpen, `${messages.length} messages came`);
        return undefined;
      },
      { instead: () => messages },
    );
  const begun = async (): Promise<Message> => (await enough(() => messages, 1))[0] ?? assert.fail("no message came");
  const events = (count: number): Promise<Message[]> =>
    enough(() => messages.filter(({ subject }) => subject !== undefined), count);
  return { messages, ended, leave: () => left.abort(), begun, events };
}

async function place(parent: string = platform.organization): Promise<{ group: string; repo: string }> {
  const { uid: group } = await platform.group(parent);
  return { group, repo: (await platform.repo(group)).uid };
}

test("a stream catches up and sends new events, and its cursors are those of the list", LIMIT, async (t) => {
  for (const [name, grpc] of Object.entries(clients)) {
    const { group, repo } = await place();
    const sibling = await place();
    const token = await platform.token();
    const stream = watch(t, grpc, { group }, token);
    assert.deepEqual(
      (await stream.events(2)).map(({ subject }) => subject),
      [group, repo],
      name,
    );
    await platform.tag(sibling.repo);
    const tags = [(await platform.tag(repo)).uid, (await platform.tag(repo)).uid];
    assert.deepEqual(
      (await stream.events(4)).slice(2).map(({ subject }) => subject),
      tags,
      name,
    );
    const [, second] = await stream.events(2);
    const { events, nextCursor } = (await platform.ok(
      "GET",
      `/events/v2/events?group=${group}&cursor=${second?.cursor}`,
    )) as object as { events: { subject: string }[]; nextCursor: string };
    assert.deepEqual(
      events.map(({ subject }) => subject),
      tags,
      name,
    );
    // And a cursor of the list opens a stream.
    const { uid } = await platform.tag(repo);
    assert.equal((await watch(t, grpc, { group, cursor: nextCursor }, token).events(1))[0]?.subject, uid, name);
  }
});

test("a stream from now on first sends its cursor", LIMIT, async (t) => {
  const { group, repo } = await place();
  await watch(t, platform.grpc, { group }, await platform.token()).events(2);
  const stream = watch(t, platform.grpc, { group, cursor: "now" }, await platform.token());
  const first = await stream.begun();
  assert.equal(first.subject, undefined);
  stream.leave();
  await stream.ended;
  const { uid } = await platform.tag(repo);
  assert.equal(
    (await watch(t, platform.grpc, { group, cursor: first.cursor }, await platform.token()).events(1))[0]?.subject,
    uid,
    "what happened while nobody listened is there",
  );
});

test("an invalid cursor, or one of another group, opens no stream", LIMIT, async (t) => {
  const { group } = await place();
  const { cursor } = await watch(t, platform.grpc, { group }, await platform.token()).begun();
  for (const [name, grpc] of Object.entries(clients)) {
    for (const request of [
      { group, cursor: "x" },
      { group, cursor, subjectPrefixes: [group] },
      { group: platform.organization, cursor },
    ]) {
      const stream = watch(t, grpc, request, await platform.token());
      assert.deepEqual([(await stream.ended).code, stream.messages], [3, []], name);
    }
  }
});

test("a stream ends before its next event once its caller may no longer read the events", LIMIT, async (t) => {
  for (const [others, code] of [
    [[], 5],
    [["viewer"], 7],
  ] as const) {
    const { group, repo } = await place();
    const identity = await platform.identity(group);
    const binding = await platform.bind(group, identity, await platform.role("editor"));
    for (const role of others) await platform.bind(group, identity, await platform.role(role));
    const before = watch(t, platform.grpc, { group }, await platform.token());
    const stream = watch(t, platform.grpc, { group, cursor: "now" }, await platform.token(identity));
    await stream.begun();
    const { length } = stream.messages;
    await platform.ok("DELETE", `/iam/v2/roleBindings/${binding}`);
    // A message is sent at most this long after the capabilities were checked.
    await wait(1_100);
    const { uid } = await platform.tag(repo);
    assert.equal((await stream.ended).code, code);
    assert.ok(
      !stream.messages.some(({ subject }) => subject === uid),
      `${stream.messages.length - length} messages came`,
    );
    // The stream of a caller that still may read continues.
    await eventually(() => before.messages.some(({ subject }) => subject === uid));
  }
});

test("a stream ends with its token, also while nothing happens, and with its group", LIMIT, async (t) => {
  const { group } = await place();
  const below = await platform.group(group);
  // A machine that is busy may need more than the time of the first token for the first message.
  let stream: Watched;
  for (let ttlMs = 2_000; ; ttlMs *= 4) {
    stream = watch(t, platform.grpc, { group }, await platform.token(platform.owner, { ttlMs }));
    await Promise.race([stream.begun().catch(() => {}), stream.ended]);
    if (stream.messages.length > 0) break;
  }
  const other = watch(t, platform.grpc, { group: below.uid }, await platform.token());
  await other.begun();
  await platform.ok("DELETE", `/iam/v2/groups/${below.uid}`);
  assert.equal((await other.ended).code, 5);
  assert.equal((await stream.ended).code, 16);
});

test("an identity has at most fifty streams, and closing one allows another", LIMIT, async (t) => {
  const { group } = await place();
  const token = await platform.token(await platform.identity(group, "owner"));
  const streams = Array.from({ length: 50 }, () => watch(t, platform.grpc, { group }, token));
  await Promise.all(streams.map((stream) => stream.begun()));
  assert.equal((await watch(t, platform.grpc, { group }, token).ended).code, 8);
  await watch(t, platform.grpc, { group }, await platform.token()).begun();
  streams[0]?.leave();
  await streams[0]?.ended;
  await eventually(async () => {
    const stream = watch(t, platform.grpc, { group }, token);
    await Promise.race([stream.ended, stream.begun().catch(() => {})]);
    return stream.messages.length > 0;
  });
});

test(
  "when the server shuts down, streams end immediately with a status that has readers to reconnect",
  LIMIT,
  async (t) => {
    const installation = await startInstallation(t);
    const grpc = openGrpc(installation.url);
    t.after(() => grpc.close());
    const stream = watch(
      t,
      grpc,
      { group: installation.bootstrap.organization.uid, cursor: "now" },
      installation.platform,
    );
    await stream.begun();
    const closing = installation.close();
    assert.equal((await stream.ended).code, 14);
    await closing;
  },
);
