import { create } from "@bufbuild/protobuf";
import { type Duration, durationFromMs } from "@bufbuild/protobuf/wkt";
import {
  GetSubscriptionSampleRequestSchema,
  type Subscription,
  SubscriptionSchema,
  SubscriptionsService,
  SubscriptionState,
  SubscriptionTestSchema,
  TestSinkRequestSchema,
} from "@moorage/api/messages";
import { listStored, storedListOf } from "@moorage/kernel/aip/list";
import { sortable } from "@moorage/kernel/aip/order";
import { countBelow, storedGet } from "@moorage/kernel/aip/resource";
import type { Call } from "@moorage/kernel/core/call";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { failedPrecondition, invalidArgument } from "@moorage/kernel/errors";
import type { Row } from "@moorage/kernel/store";
import { groups } from "../../iam/index.ts";
import { validate } from "@moorage/kernel/aip/validate";
import { bodyIn, isChat } from "../chat-message.ts";
import { redeliver } from "../deliveries/redeliver.ts";
import { subscriptionViolations } from "./fields.ts";
import { DEFAULT_OVERLAP_MS, MAX_OVERLAP_MS, newSubscriptionSecret, rotated, subscriptionPlace } from "./secrets.ts";
import { TEST_MESSAGE, TEST_TYPE, testEvent } from "./test-event.ts";
import { LAYOUT, subscriptions, toRow } from "../subscription-rows.ts";

// Each event of the group, and of everything below it, makes a row for each subscription.
const MAX_PER_GROUP = 100;

const getSubscription = storedGet("subscriptions", LAYOUT);
const LIST = storedListOf(
  {
    method: SubscriptionsService.method.listSubscriptions,
    table: "subscriptions",
    defaultOrder: "createTime",
    orderBy: sortable("create_time", "update_time", "sink", "state", "uid"),
    large: ["type_prefixes", "subject_prefixes"],
  },
  LAYOUT,
);

export function subscriptionsService({
  pageTokenKey,
  secrets,
  eventsPrefix,
  sinks,
}: ServiceContext): Service<typeof SubscriptionsService> {
  return {
    getSubscription: (call, { uid }) => getSubscription(call.tx, uid),
    listSubscriptions: (call, request) => listStored(call, pageTokenKey, LIST, request),
    async createSubscription(call, { parent, subscription = create(SubscriptionSchema) }) {
      const violations = subscriptionViolations(subscription, eventsPrefix);
      if (violations.length > 0) throw invalidArgument(...violations);
      await groups.get(call.tx, parent);
      await requireCapacity(call, parent);
      const row = await subscriptions.insert(call, parent, {
        ...toRow(subscription),
        state: SubscriptionState.ACTIVE,
        state_reason: "",
        secret: "",
        old_secret: "",
        old_secret_expire_time: null,
        allowed_rate: 0,
        handshake_time: null,
        create_time: call.nowMs,
        update_time: call.nowMs,
      });
      // The secret is sealed for the row's uid, which the insert has assigned.
      const secret = newSubscriptionSecret();
      const { uid } = row;
      await call.tx
        .updateTable("subscriptions")
        .set({ secret: secrets.seal(secret, subscriptionPlace(uid)) })
        .where("uid", "=", uid)
        .execute();
      return { ...subscriptions.toMessage(row), secret };
    },
    async deleteSubscription(call, { uid }) {
      const row = await subscriptions.get(call.tx, uid);
      await call.tx.deleteFrom("subscription_leases").where("subscription", "=", uid).execute();
      // There may be very many deliveries: they are NOT_FOUND from now on, and retention removes them.
      await subscriptions.remove(call, row);
      return {};
    },
    async pauseSubscription(call, { uid }) {
      const row = await subscriptions.get(call.tx, uid);
      return row.state === SubscriptionState.ACTIVE
        ? await change(call, row, { state: SubscriptionState.PAUSED })
        : subscriptions.toMessage(row);
    },
    async resumeSubscription(call, { uid }) {
      const row = await subscriptions.get(call.tx, uid);
      if (row.state === SubscriptionState.ACTIVE) return subscriptions.toMessage(row);
      // A new handshake asks the sink whether it accepts events.
      return await change(call, row, { state: SubscriptionState.ACTIVE, state_reason: "", handshake_time: null });
    },
    async rotateSubscriptionSecret(call, { uid, overlap }) {
      const overlapMs = overlapOf(overlap);
      const row = await subscriptions.get(call.tx, uid);
      const secret = newSubscriptionSecret();
      const untilMs = overlapMs === 0 ? undefined : call.nowMs + overlapMs;
      return {
        ...(await change(call, row, rotated(row.secret, secrets.seal(secret, subscriptionPlace(uid)), untilMs))),
        secret,
      };
    },
    async testSubscription(call, { uid }) {
      const { parent } = await subscriptions.get(call.tx, uid);
      const body = { subscription: uid, message: TEST_MESSAGE };
      return {
        eventId: call.emit(SubscriptionTestSchema, {
          type: TEST_TYPE,
          subject: uid,
          group: parent,
          target: uid,
          body,
        }),
      };
    },
    async getSubscriptionSample(call, request) {
      validate(GetSubscriptionSampleRequestSchema, request);
      const { parent, format } = request;
      await groups.get(call.tx, parent);
      const event = testEvent(parent, call.caller.identity, call.nowMs);
      return { body: bodyIn(format, event, eventsPrefix), signed: !isChat(format) };
    },
    async testSink(call, request) {
      validate(TestSinkRequestSchema, request);
      if (sinks === undefined) throw new Error("no test event can be sent from here");
      const { parent: group, sink, format } = request;
      await groups.get(call.tx, group);
      const { identity } = call.caller;
      const outcome = await sinks.test({ group, sink, format, identity, nowMs: call.nowMs });
      const { isDelivered: delivered, status, error, latencyMs } = outcome;
      return { delivered, status, error, latency: durationFromMs(Math.round(latencyMs)) };
    },
    async redeliverEvents(call, request) {
      await subscriptions.get(call.tx, request.uid);
      return await redeliver(call, request);
    },
  };
}

async function change(
  call: Call,
  row: Row<"subscriptions">,
  changes: Partial<Row<"subscriptions">>,
): Promise<Subscription> {
  const changed = { ...changes, update_time: call.nowMs };
  await call.tx.updateTable("subscriptions").set(changed).where("uid", "=", row.uid).execute();
  call.wake("deliveries");
  return subscriptions.toMessage({ ...row, ...changed });
}

async function requireCapacity(call: Call, group: string): Promise<void> {
  if ((await countBelow(call.tx, "subscriptions", group)) < MAX_PER_GROUP) return;
  throw failedPrecondition({
    type: "TOO_MANY_SUBSCRIPTIONS",
    subject: group,
    description: `a group has at most ${MAX_PER_GROUP} subscriptions`,
  });
}

function overlapOf(overlap: Duration | undefined): number {
  if (overlap === undefined) return DEFAULT_OVERLAP_MS;
  const ms = Number(overlap.seconds) * 1000 + Math.floor(overlap.nanos / 1_000_000);
  if (ms >= 0 && ms <= MAX_OVERLAP_MS) return ms;
  throw invalidArgument({ field: "overlap", description: "must be from 0s to 7 days" });
}
