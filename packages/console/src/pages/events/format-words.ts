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
