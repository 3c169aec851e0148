import type { DeliveryState, SubscriptionState } from "../../api/gen/events.ts";
import { Badge, type BadgeLook } from "../../ui/badge.tsx";

const SUBSCRIPTION: Record<SubscriptionState, [look: BadgeLook, word: string]> = {
  SUBSCRIPTION_STATE_UNSPECIFIED: ["plain", "not known"],
  SUBSCRIPTION_STATE_ACTIVE: ["success", "active"],
  SUBSCRIPTION_STATE_PAUSED: ["warning", "paused"],
  SUBSCRIPTION_STATE_DISABLED: ["danger", "disabled"],
};

/** What becomes of deliveries, in words. */
export const DELIVERY_WORDS: Record<DeliveryState, string> = {
  DELIVERY_STATE_UNSPECIFIED: "not known",
  DELIVERY_STATE_PENDING: "waiting",
  DELIVERY_STATE_SENDING: "being sent",
  DELIVERY_STATE_RETRYING: "sent again later",
  DELIVERY_STATE_DELIVERED: "delivered",
  DELIVERY_STATE_DEAD: "dead letter",
};
const LOOKS: Partial<Record<DeliveryState, BadgeLook>> = {
  DELIVERY_STATE_RETRYING: "warning",
  DELIVERY_STATE_DELIVERED: "success",
  DELIVERY_STATE_DEAD: "danger",
};

/** Whether events are sent, in a word. */
export function SubscriptionBadge({ state }: { state: SubscriptionState }) {
  const [look, word] = SUBSCRIPTION[state];
  return <Badge look={look}>{word}</Badge>;
}

/** What became of a delivery, in words. */
export function DeliveryBadge({ state }: { state: DeliveryState }) {
  return <Badge look={LOOKS[state] ?? "plain"}>{DELIVERY_WORDS[state]}</Badge>;
}
