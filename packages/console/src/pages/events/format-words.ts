import type { SubscriptionFormat } from "../../api/gen/events.ts";

/** The forms of what webhooks send, as they are offered. */
export const FORMATS: readonly (readonly [SubscriptionFormat, string])[] = [
  ["SUBSCRIPTION_FORMAT_CLOUDEVENTS", "CloudEvents"],
  ["SUBSCRIPTION_FORMAT_SLACK", "Slack"],
  ["SUBSCRIPTION_FORMAT_TEAMS", "Teams"],
];

/** Such as `Slack`; what states none is CloudEvents. */
export const formatWord = (format: SubscriptionFormat): string =>
  FORMATS.find(([each]) => each === format)?.[1] ?? "CloudEvents";

/** Whether a secret signs what is sent in that form: messages for chats are not signed. */
export const isSigned = (format: SubscriptionFormat): boolean =>
  format === "SUBSCRIPTION_FORMAT_CLOUDEVENTS" || format === "SUBSCRIPTION_FORMAT_UNSPECIFIED";

/** What is to be known of forms that are not signed. */
export const NOT_SIGNED = "Messages are not signed: whoever knows the address can write there.";
