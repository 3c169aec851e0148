import { SubscriptionSchema } from "@moorage/api/messages";
import { columnsOf, layoutOf } from "@moorage/kernel/core/stored-answer";
import { resource } from "@moorage/kernel/aip/resource";

// Only the responses that create a secret contain it.
export const LAYOUT = layoutOf(SubscriptionSchema, { without: ["secret"] });

export const toRow = columnsOf(LAYOUT, "subscriptions", [
  "sink",
  "type_prefixes",
  "subject_prefixes",
  "tagged_only",
  "format",
]);

export const subscriptions = resource({
  message: SubscriptionSchema,
  table: "subscriptions",
  toMessage: LAYOUT.ofRow,
  toRow,
});

/** A subscription as responses show it, without its secret. */
export const subscriptionOf = subscriptions.toMessage;
