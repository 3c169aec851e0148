import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { type Event, EventsService } from "@moorage/api";
import { ConnectError } from "@connectrpc/connect";
import { type Client, openClient } from "../../../server/test/support/api-client.ts";
import { ENGINE } from "../../../server/test/support/database.ts";
import { type Grpc, openConnect, openGrpc, openGrpcWeb } from "../../../server/test/support/grpc.ts";
import { type Dice, diceOf } from "../../../server/test/support/dice.ts";
import { startReplicas } from "../../../server/test/support/replicas.ts";
import { eventually } from "../../../server/test/support/eventually.ts";

// Readers of the feed crash anywhere and continue from their last saved cursor, while others write and a server is
// killed.

const SEED = Number(process.env["MOORAGE_TEST_SEED"] ?? randomInt(2 ** 31));
const WRITES = 40;
const CRASHES = 0.08;
const PREFIX = "dev.moorage.api.platform.registry.tag.";
/** Codes that a correct reader must never get. */
const REJECTIONS = new Set([3, 5, 7, 9, 12, 16]);

/** What a reader saves in one step. */
interface Kept {
  cursor: string;
  events: Seen[];
}
interface Seen {
  id: string;
  group: string;
  subject: string;
  sequence: string;
  what: string;
}
/** Some events and the cursor after them, which are saved together. */
interface Step {
  events: Seen[];
  cursor: string;
}

class Crash extends Error {}

test(
  "a reader that continues from its cursor after any crash has every event of its group exactly once and in order",
  { timeout: 300_000 },
  async (t) => {
    t.diagnostic(`MOORAGE_TEST_SEED=${SEED}`);
    const house = await startReplicas(t, ENGINE === "postgres" ? 2 : 1);
    const client = clientOf(t, house.url);
    const api = async (method: string, path: string, body?: unknown): Promise<{ uid: string }> => {
      const { status, body: text } = await client.once(method, path, {
        token: house.platform,
        headers: { "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.equal(status, 200, text.toString());
      return JSON.parse(text.toString()) as { uid: string };
    };
    const place = async (parent: string, name: string) => {
      const { uid: group } = await api("POST", `/iam/v2/groups/${parent}`, { name });
      return { group, repo: (await api("POST", `/registry/v2/repos/${group}`, { name: "app" })).uid };
    };
    const own = await place(house.bootstrap.organization.uid, "own");
    const below = await place(own.group, "below");
    const sibling = await place(house.bootstrap.organization.uid, "sibling");

    const attempted = new Set<string>();
    const acknowledged = new Set<string>();
    let written = 0;
    /** Makes tags and moves some. A change that a killed server did not answer may have happened or not. */
    const write = async (repo: string, who: string, dice: Dice): Promise<void> => {
      for (let done = 0; done < WRITES;) {
        const name = `${who}-${attempted.size}`;
        for (const digest of dice.chance(0.3) ? ["a", "b"] : ["a"]) {
          attempted.add(`${name}@${digest}`);
          try {
            await api("POST", `/registry/v2/tags/${repo}`, { name, digest: `sha256:${digest.repeat(64)}` });
          } catch {
            await wait(50);
            break;
          }
          acknowledged.add(`${name}@${digest}`);
          done += 1;
          written += 1;
        }
      }
    };

    const asked = { group: own.group, typePrefixes: [PREFIX] };
    const pages = (dice: Dice) =>
      async function* ({ cursor }: Kept): AsyncIterable<Step> {
        for (;;) {
          const query = new URLSearchParams({
            group: own.group,
            type_prefixes: PREFIX,
            cursor,
            page_size: String(1 + dice.below(20)),
          });
          const { status, body } = await client.once("GET", `/events/v2/events?${query}`, { token: house.platform });
          assert.ok(![400, 401, 403, 404].includes(status), body.toString());
          if (status !== 200) throw new Crash(body.toString());
          const { events, nextCursor, more } = JSON.parse(body.toString()) as {
            events: Event[];
            nextCursor: string;
            more: boolean;
          };
          yield { events: events.map(seen), cursor: (cursor = nextCursor) };
          if (!more) await wait(20);
        }
      };
    const stream = (grpc: Grpc) =>
      async function* ({ cursor }: Kept): AsyncIterable<Step> {
        const left = new AbortController();
        try {
          for await (const each of grpc.stream(
            EventsService.method.watchEvents,
            { ...asked, cursor },
            house.platform,
            left.signal,
          )) {
            yield { events: each.event === undefined ? [] : [seen(each.event)], cursor: each.cursor };
          }
        } finally {
          left.abort();
        }
      };
    const over = new AbortController();
    t.after(() => over.abort());
    const clients = [openGrpc(house.url), openGrpcWeb(house.url), openConnect(house.url)];
    t.after(() => clients.forEach((grpc) => grpc.close()));
    const readers = [pages(diceOf(SEED, 1)), ...clients.map(stream)].map((read, at) =>
      follow(read, diceOf(SEED, 10 + at), over.signal),
    );

    const writers = Promise.all(
      [own.repo, below.repo, own.repo, sibling.repo].map((repo, at) =>
        write(repo, `${repo === sibling.repo ? "other" : "own"}${at}`, diceOf(SEED, 20 + at)),
      ),
    );
    await eventually(() => written >= WRITES);
    await house.replace(0);
    await writers;
    // This event is committed after all others, so a reader that has it must have all others before it.
    await api("POST", `/registry/v2/tags/${own.repo}`, { name: "last", digest: `sha256:${"a".repeat(64)}` });

    const kept = await Promise.all(readers);
    for (const { events } of kept) {
      const found = events.map(({ what }) => what);
      assert.equal(found.at(-1), "last@a");
      assert.deepEqual(
        found
          .slice(0, -1)
          .filter((what, at) => !what.startsWith("own") || !attempted.has(what) || found.indexOf(what) !== at),
        [],
        "nothing twice, and nothing that is not its own",
      );
      assert.deepEqual(
        [...acknowledged].filter((what) => what.startsWith("own") && !found.includes(what)),
        [],
        "nothing is missed",
      );
      const last = new Map<string, number>();
      for (const { group, subject, sequence } of events) {
        assert.ok(group === own.group || group === below.group);
        assert.equal(Number(sequence), (last.get(subject) ?? 0) + 1, "of a subject in the order in which it happened");
        last.set(subject, Number(sequence));
      }
      assert.deepEqual(events, kept[0]?.events, "the same for every reader");
    }
  },
);

function clientOf(t: TestContext, url: string): Client {
  const client = openClient(url);
  t.after(() => client.close());
  return client;
}

function seen({
  id,
  group,
  subject,
  sequence,
  data = {},
}: Pick<Event, "id" | "group" | "subject" | "sequence" | "data">): Seen {
  const { name, digest } = data["body"] as { name: string; digest: string };
  return { id, group, subject, sequence, what: `${name}@${digest.slice(7, 8)}` };
}

/** Reads until the last event, and sometimes crashes before or after a step is saved. */
async function follow(read: (kept: Kept) => AsyncIterable<Step>, dice: Dice, over: AbortSignal): Promise<Kept> {
  let kept: Kept = { cursor: "", events: [] };
  while (kept.events.at(-1)?.what !== "last@a" && !over.aborted) {
    try {
      for await (const { events, cursor } of read(kept)) {
        if (dice.chance(CRASHES)) throw new Crash("before it was kept");
        kept = { cursor, events: [...kept.events, ...events] };
        if (dice.chance(CRASHES)) throw new Crash("after it was kept");
        if (events.at(-1)?.what === "last@a") break;
      }
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      if (error instanceof ConnectError) assert.ok(!REJECTIONS.has(error.code), error.message);
      await wait(20);
    }
  }
  return kept;
}
