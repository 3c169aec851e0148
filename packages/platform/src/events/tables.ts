import type { Generated } from "kysely";
import { declareTables } from "@moorage/kernel/store";

declare module "@moorage/kernel/store/tables" {
  interface Tables {
    /**
     * Events of committed changes that have no number yet, in an order in which effects come after their causes. `type`
     * is without the configured prefix. `parent`: the group that it happened in, or empty. `target`: the only
     * subscription to send it to, or empty. `actor` and `body` are JSON.
     */
    event_outbox: {
      n: Generated<number>;
      id: string;
      type: string;
      subject: string;
      parent: string;
      target: string;
      time: number;
      actor: string;
      body: string;
    };
    /** Pulls for which no event was emitted yet. `pulls`: a JSON list of them. The ids are in the order of time. */
    pull_notes: { id: string; pulls: string };
    /**
     * Events in the order of reading: `seq` counts all events from 1, and no event becomes visible later before a
     * visible one. `number` counts the events of the subject. `organization`: the one that `parent` is in, or empty.
     */
    events: {
      seq: number;
      id: string;
      type: string;
      subject: string;
      parent: string;
      organization: string;
      target: string;
      number: number;
      time: number;
      actor: string;
      body: string;
    };
    /**
     * The last number of each subject; for the empty subject, the last `seq`; for `gone:<organization>`, the newest
     * `seq` there that was removed for its age. `end_time`: when the subject was deleted.
     */
    event_numbers: { subject: string; number: number; end_time: number | null };
    /**
     * `state`: the number of a SubscriptionState. The prefixes are JSON lists. The secrets are sealed; `old_secret` may
     * be empty.
     */
    subscriptions: {
      uid: string;
      parent: string;
      sink: string;
      state: number;
      state_reason: string;
      type_prefixes: string;
      subject_prefixes: string;
      /** 1: of pushes and pulls only those by a tag. */
      tagged_only: number;
      /** The number of the SubscriptionFormat. */
      format: Generated<number>;
      secret: string;
      old_secret: string;
      old_secret_expire_time: number | null;
      /** Requests a minute; 0 for no limit. `handshake_time`: when the sink was last asked for permission. */
      allowed_rate: number;
      handshake_time: number | null;
      create_time: number;
      update_time: number;
    };
    /** The process that sends for a subscription, and until when unless it extends the lease. */
    subscription_leases: { subscription: string; holder: string; until_time: number };
    /**
     * Events to be sent to the subscription `parent`. The uid ends in the event's `seq`, as 16 hex digits. `state`: the
     * number of a DeliveryState. `step`: the number of attempts in the current schedule. `next_time`: when it is due,
     * also while it is being sent; null once it has ended. `attempts`: a JSON list of [start ms, latency ms, status,
     * error].
     */
    deliveries: {
      uid: string;
      parent: string;
      seq: number;
      event_id: string;
      event_type: string;
      event_subject: string;
      state: number;
      tries: number;
      step: number;
      last_status: number;
      last_error: string;
      last_latency_ms: number;
      next_time: number | null;
      attempts: string;
      create_time: number;
      update_time: number;
    };
  }
}

export const EVENT_TABLES = declareTables({
  pull_notes: { key: ["id"], weight: "length(pulls)" },
  event_outbox: { key: ["n"], weight: "length(body) + length(actor)" },
  events: { key: ["seq"], weight: "length(body) + length(actor)" },
  event_numbers: { key: ["subject"] },
  subscriptions: { key: ["uid"] },
  deliveries: { key: ["uid"] },
  subscription_leases: { key: ["subscription"], isLive: true },
});
