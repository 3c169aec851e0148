import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { loadConfig } from "../../src/index.ts";
import { type Database, openStore } from "../../../kernel/src/store/index.ts";
import { ENGINE } from "../support/database.ts";
import { diceOf } from "../support/dice.ts";
import { eventually } from "../support/eventually.ts";
import { type Replicas, startReplicas } from "../support/replicas.ts";
import { disordered, doubled, foreign, lost, unproven } from "../support/storm/check.ts";
import { killAfter, killDuring } from "../support/storm/disturb.ts";
import { unaccounted } from "../support/storm/log.ts";
import { startReceivers } from "../support/storm/receivers.ts";
import { type Api, apiOf, type Listener, makeWorld, type World } from "../support/storm/world.ts";
import { startWriters } from "../support/storm/writers.ts";
import { sized } from "../support/extent.ts";

// Events are emitted faster than some receivers accept them, and servers are killed at random. In the end every
// receiver that accepts events has all of its own and none of another's, and the log has each attempt. The operations
// follow from the seed; their interleaving does not. For more events:
//   npm run storm -- --events 50000 --seed 42 --engine postgres
const EVENTS = Number(process.env["MOORAGE_TEST_STORM_EVENTS"] ?? sized(400, 1_500));
const SEED = Number(process.env["MOORAGE_TEST_STORM_SEED"] ?? randomInt(1_000_000));
const IS_SMALL = EVENTS < 2_000;
const [ORGANIZATIONS, WRITERS, FLEET, KILLS, LATE_KILLS] = IS_SMALL ? [2, 1, 5, 1, 0] : [4, 2, 40, 6, 2];
const LIMIT = { timeout: EVENTS * 20 + 240_000 };
const DRAIN_MS = EVENTS * 10 + 60_000;
const POLL_MS = 200;
// An event of a pull is emitted at most so much later, in milliseconds.
const QUIET_MS = 1_200;
const MOST_SHOWN = 5;
const SETTINGS = {
  MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
  MOORAGE_GC_INTERVAL: "0",
  MOORAGE_MIRROR_WORKERS: "0",
  // Short, so that another process soon takes over what a dead process held. A sink that accepts events now and then
  // never runs out of attempts. A failing sink is left alone for the first delay, so that sixteen of them take less of
  // the machine than the working ones.
  MOORAGE_EVENTS_TIMEOUT: "1s",
  MOORAGE_EVENTS_RETRY: ["500ms", ...Array<string>(30).fill("1s")].join(","),
};

test(
  "every receiver gets each event of its groups and no other, whatever process is killed and whatever other receivers do",
  LIMIT,
  async (t) => {
    t.diagnostic(`seed ${SEED}: MOORAGE_TEST_STORM_SEED=${SEED} does the same again`);
    const began = performance.now();
    const replicas = await startReplicas(t, ENGINE === "sqlite" ? 1 : 2, SETTINGS);
    const receivers = await startReceivers(t, SEED);
    const api = apiOf(replicas);
    t.after(() => api.client.close());
    const world = await makeWorld(api, replicas.bootstrap.organization, ORGANIZATIONS, receivers.url);
    receivers.trust(replicas.bootstrap.baseUrl, await api.call("GET", "/.well-known/jwks.json"), world.trust);

    const writers = startWriters(replicas, world.places, { each: WRITERS, fleet: FLEET, events: EVENTS, seed: SEED });
    const dice = diceOf(SEED, 403);
    let killed = await killDuring(replicas, writers, { events: EVENTS, kills: KILLS }, dice);
    const madeMs = performance.now() - began;
    killed += await killAfter(replicas, LATE_KILLS, dice);
    const left = await drained(t, replicas, world);
    const drainedMs = performance.now() - began;

    const got = await receivers.got();
    const none = (what: string, wrong: string[]): void =>
      assert.deepEqual(wrong.slice(0, MOST_SHOWN), [], `seed ${SEED}: ${wrong.length} times: ${what}`);
    assert.deepEqual(left, [], `seed ${SEED}: everything was sent`);
    none("an acknowledged event did not arrive", lost(world, writers.written, got));
    none("a receiver got what is not for it", foreign(world, writers.written, got));
    none(
      "the numbers of a subject have gaps, or are in another order than what happened",
      disordered(world, writers.written, got),
    );
    none("an event is not the same each time, or not proven", unproven(world, got));
    none("two tries of one delivery at the same time", doubled(got));
    const log = await unaccounted(api, world, got);
    none("the log does not account for a try", log.wrong);
    await assertDisabled(
      api,
      world,
      got.some(({ status }) => status === 410),
    );
    none(
      "an error in the log",
      replicas.all
        .flatMap(({ lines }) => lines)
        .filter(({ level, status }) => level >= 50 && status !== 503)
        .map((line) => JSON.stringify(line)),
    );
    t.diagnostic(
      `${writers.events()} events, ${world.listeners.length} subscriptions, ${got.length} requests, ${log.deliveries} deliveries, ${log.tries} tries, ${log.interrupted} interrupted`,
    );
    t.diagnostic(
      `${killed} servers killed, ${writers.trouble()} requests of writers in vain; all made after ${seconds(madeMs)} s, sent after ${seconds(drainedMs)} s, checked after ${seconds(performance.now() - began)} s`,
    );
    assert.ok(killed >= KILLS && log.deliveries >= EVENTS, "there was a storm");
  },
);

/**
 * Waits until nothing is left to be sent to the receivers that accept events. Returns what is left after the timeout.
 */
async function drained(t: TestContext, { env }: Replicas, { listeners }: World): Promise<string[]> {
  const store = await openStore(loadConfig(env));
  t.after(() => store.close());
  const takers = new Map(listeners.filter(({ takes }) => takes).map(({ uid, at }) => [uid, at]));
  const endMs = performance.now() + DRAIN_MS;
  for (let quiet = 0; ;) {
    const left = await waiting(store.reader, takers);
    quiet = left.length === 0 ? quiet + 1 : 0;
    if (quiet > QUIET_MS / POLL_MS || performance.now() > endMs) return left;
    await wait(POLL_MS);
  }
}

async function waiting(db: Database, takers: ReadonlyMap<string, string>): Promise<string[]> {
  const unnumbered = await db.selectFrom("event_outbox").select("n").limit(1).execute();
  const open = await db
    .selectFrom("deliveries")
    .select(["parent", "state", (eb) => eb.fn.countAll<number>().as("count")])
    .where("parent", "in", [...takers.keys()])
    .where("state", "in", [1, 2, 3])
    .groupBy(["parent", "state"])
    .execute();
  return [
    ...unnumbered.map(() => "events without a number"),
    ...open.map(({ parent, state, count }) => `${takers.get(parent)}: ${count} in state ${state}`),
  ];
}

/** Asserts that a sink that answered 410 Gone is disabled. */
async function assertDisabled(api: Api, { listeners }: World, hasSaid: boolean): Promise<void> {
  if (!hasSaid) return;
  const gone = listeners.find(({ at }: Listener) => at === "malicious/gone");
  const state = async (): Promise<string> =>
    (await api.call<{ state: string }>("GET", `/events/v2/subscriptions/${gone?.uid}`)).state;
  await eventually(async () => (await state()) === "SUBSCRIPTION_STATE_DISABLED", {
    limitMs: DRAIN_MS,
    instead: state,
  });
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
