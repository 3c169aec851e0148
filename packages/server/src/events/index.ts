// What other rooms and the delivery may ask of events.
export { apiEvents } from "./api-events.ts";
export { appendEvents } from "./append.ts";
export { createSinkCheck } from "./sinks.ts";
export { resealSubscriptions, subscriptionPlace } from "./subscription-secrets.ts";
export { subscriptionsService } from "./subscriptions.ts";
export { eventsService } from "./feed.ts";
