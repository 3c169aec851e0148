// The services, commands and functions of events that other features use.
export { eventsArea } from "./area.ts";
export { apiEvents, type Emit } from "./api-events.ts";
export { appendEvents } from "./outbox.ts";
export { bodyTypes, TAG_MOVES } from "./types.ts";
export { bodyIn, isChat } from "./chat-message.ts";
export { releaseLeases } from "./commands.ts";
export { claimDeliveries } from "./deliveries/claim.ts";
export type {
  ClaimAnswer,
  ClaimedDelivery,
  ClaimRequest,
  DeliveryTarget,
  Outcome,
  QueuedEvent,
  RecordRequest,
} from "./deliveries/messages.ts";
export { recordOutcomes } from "./deliveries/record.ts";
export { expireEvents } from "./expire.ts";
export { sequenceEvents } from "./sequencer.ts";
export {
  hasBufferedPulls,
  keepPulls,
  notePulls,
  type BufferedPulls,
  type PublishedPulls,
  type PulledContent,
} from "./pulls.ts";
export { backlogs, dueSubscriptions, hasOutbox } from "./deliveries/due.ts";
export { type EventMetrics, eventMetrics } from "./metrics.ts";
export { startHistoryWatch } from "./history-watch.ts";
export { createSinkCheck } from "./subscriptions/sink-check.ts";
export { TEST_TYPE, testEvent } from "./subscriptions/test-event.ts";
export { subscriptionPlace } from "./subscriptions/secrets.ts";
