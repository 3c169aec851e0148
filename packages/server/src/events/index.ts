// What other rooms and the delivery may ask of events.
export { apiEvents } from "./api-events.ts";
export { appendEvents } from "./append.ts";
export { eventCommands } from "./commands.ts";
export type { ClaimAnswer, ClaimedDelivery, ClaimRequest, DeliveryTarget, Outcome, QueuedEvent, RecordRequest } from "./delivering.ts";
export { hasPullNotes, type PullNote, type ToldPulls } from "./pull-notes.ts";
export { type Backlog, backlogs, dueSubscriptions, hasOutbox } from "./due.ts";
export { eventRetention, type EventRetentionDeps } from "./retention.ts";
export { deliveriesService } from "./deliveries.ts";
export { createSinkCheck } from "./sinks.ts";
export { resealSubscriptions, subscriptionPlace } from "./subscription-secrets.ts";
export { subscriptionsService } from "./subscriptions.ts";
export { eventsService } from "./feed.ts";
