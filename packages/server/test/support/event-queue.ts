import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { create } from "@bufbuild/protobuf";
import { PingResponseSchema } from "@moorage/api";
import { newUid } from "../../../kernel/src/lib/uid.ts";
import {
  appendEvents,
  claimDeliveries,
  type ClaimedDelivery,
  type ClaimRequest,
  type Outcome,
  recordOutcomes,
  type RecordRequest,
  sequenceEvents,
} from "../../../platform/src/events/index.ts";
import type { Database, Row } from "../../../kernel/src/store/index.ts";
import { openCommandWriter } from "../../src/installation/stores.ts";
import type { Command } from "../../../kernel/src/core/command.ts";
import type { Writer } from "../../src/runtime/sqlite-transactor.ts";
import { dropDatabase, openTestStore } from "./database.ts";
import { systemCall } from "../../../kernel/src/core/system-call.ts";

// The queue of events in a database of its own, used by the commands of several processes, at times that the test sets.

export const PREFIX = "dev.moorage";
const HOLD_MS = 30_000;

interface EmitOptions {
  nowMs?: number;
  process?: number;
}
/** The attributes of an event that matter to the queue. */
export interface Emitted {
  subject: string;
  group: string;
  type?: string;
  target?: string;
}

export async function openEventQueue(t: TestContext, processes = 1) {
  const dataDir = mkdtempSync(join(tmpdir(), "moorage-events-"));
  let collisions = 0;
  const opened: { store: Awaited<ReturnType<typeof openTestStore>>; writer: Writer }[] = [];
  t.after(async () => {
    for (const { store, writer } of opened) {
      await writer.close();
      await store.close();
    }
    await dropDatabase(dataDir);
    rmSync(dataDir, { recursive: true, maxRetries: 10 });
  });
  for (let n = 0; n < processes; n += 1) {
    const store = await openTestStore(dataDir, {
      onRetry: () => {
        collisions += 1;
      },
    });
    const writer = await openCommandWriter(store.store, { dataDir, eventsPrefix: PREFIX }, (error) => {
      throw error;
    });
    opened.push({ store, writer });
  }
  const [first] = opened;
  if (first === undefined) throw new Error("a queue needs a process");
  const { db } = first.store;
  const { reader } = first.store.store;
  const at = (n: number) => opened[n] ?? first;
  const data = (nowMs: number) => systemCall(nowMs);
  const rows = (subscription: string): Promise<Row<"deliveries">[]> =>
    reader.selectFrom("deliveries").selectAll().where("parent", "=", subscription).orderBy("seq").execute();
  const write = <Input, Output>(
    command: Command<Input, Output, never>,
    nowMs: number,
    input: NoInfer<Input>,
    process = 0,
  ): Promise<Output> => at(process).writer.write(command, data(nowMs), input);
  return {
    db,
    reader,
    write,
    rows,
    writer: first.writer,
    transact: first.store.store.transact,
    /** The number of transactions repeated because of a collision with another. */
    collisions: () => collisions,
    /**
     * Appends events in one transaction of a process; a function may write more in it. Returns the ids of the events.
     */
    async emit(
      events: readonly Emitted[] | ((tx: Database) => Promise<readonly Emitted[]>),
      { nowMs = 0, process = 0 }: EmitOptions = {},
    ): Promise<string[]> {
      return await at(process).store.store.transact(async (tx) => {
        const emitted = (typeof events === "function" ? await events(tx) : events).map(
          ({ type = "test.v1", target, ...event }) => ({
            id: newUid("").slice(0, 32),
            type,
            ...event,
            ...(target !== undefined && { target }),
            schema: PingResponseSchema,
            body: create(PingResponseSchema),
          }),
        );
        await appendEvents(tx, data(nowMs), emitted);
        return emitted.map(({ id }) => id);
      });
    },
    /** Numbers all pending events. */
    async sequence(nowMs = 0, limit = 500): Promise<number> {
      let sum = 0;
      for (let count = -1; count !== 0; sum += count)
        ({ count } = await write(sequenceEvents, nowMs, { limit, typePrefix: PREFIX }));
      return sum;
    },
    /** A subscription of the group. */
    async subscribe(group: string, fields: Partial<Row<"subscriptions">> = {}): Promise<string> {
      const uid = newUid(group);
      await db
        .insertInto("subscriptions")
        .values({
          uid,
          parent: group,
          sink: "https://sink.example.com/",
          state: 1,
          state_reason: "",
          type_prefixes: "[]",
          subject_prefixes: "[]",
          tagged_only: 0,
          secret: "s",
          old_secret: "",
          old_secret_expire_time: null,
          allowed_rate: 0,
          handshake_time: null,
          create_time: 0,
          update_time: 0,
          ...fields,
        })
        .execute();
      return uid;
    },
    /** Deliveries of the subscription, claimed by the holder. Undefined when another process holds the subscription. */
    async claim(
      subscription: string,
      nowMs: number,
      options: Partial<ClaimRequest> & { process?: number } = {},
    ): Promise<ClaimedDelivery[] | undefined> {
      const { holder = "a", limit = 100, process = 0, holdMs = HOLD_MS } = options;
      const answer = await write(claimDeliveries, nowMs, { subscription, holder, holdMs, limit }, process);
      return answer.held ? answer.deliveries : undefined;
    },
    /** Appends `count` pending deliveries of the subscription, all at one time. */
    async fill(subscription: string, count: number, nowMs = 0): Promise<string[]> {
      const group = subscription.slice(0, subscription.lastIndexOf("/"));
      await this.emit(
        Array.from({ length: count }, () => ({ subject: group, group, target: subscription })),
        { nowMs },
      );
      await this.sequence(nowMs);
      return (await rows(subscription)).slice(-count).map(({ uid }) => uid);
    },
    /** Records how attempts ended. Returns whether the holder still holds the subscription. */
    async record(
      subscription: string,
      nowMs: number,
      options: Partial<RecordRequest> & { process?: number },
    ): Promise<boolean> {
      const { holder = "a", outcomes = [], process = 0, ...rest } = options;
      return (await write(recordOutcomes, nowMs, { subscription, holder, outcomes, ...rest }, process)).held;
    },
    ids: async (subscription: string): Promise<string[]> => (await rows(subscription)).map((row) => row.event_id),
    states: async (subscription: string): Promise<number[]> => (await rows(subscription)).map(({ state }) => state),
    events: () => reader.selectFrom("events").selectAll().orderBy("seq").execute(),
  };
}

/** The outcome of an attempt of a delivery. */
export function outcome({ uid }: { uid: string }, fields: Partial<Outcome> = {}): Outcome {
  return { uid, startMs: 1, latencyMs: 2, status: 200, error: "", ...fields };
}
