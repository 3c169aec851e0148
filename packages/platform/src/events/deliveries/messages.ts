// The messages between the queue of deliveries in the database and the process that sends them.

/** An event to send, without the prefix and source that the installation adds. */
export interface QueuedEvent {
  id: string;
  /** Without the configured prefix. */
  type: string;
  subject: string;
  /** The group it happened in. */
  group: string;
  /** Its number among the events of its subject. */
  number: number;
  timeMs: number;
  /** JSON text: {subject, act}. */
  actor: string;
  /** JSON text. */
  body: string;
}

/** The subscription that events are sent for, with its sink. */
export interface DeliveryTarget {
  /** The subscription's uid. */
  subscription: string;
  /** The subscription's group. */
  group: string;
  sink: string;
  /** Sealed; the second one is the previous secret, while it still signs. */
  secrets: string[];
  /** Requests per minute; 0 for no limit. */
  allowedRate: number;
  /** The number of the SubscriptionFormat. */
  format: number;
  /** When the last handshake with the sink was. Undefined when there was none. */
  handshakeMs?: number;
}

/** A delivery that the claiming process is to send now. */
export interface ClaimedDelivery {
  uid: string;
  /** Attempts of the current schedule before this one. */
  step: number;
  event: QueuedEvent;
}

export interface ClaimRequest {
  subscription: string;
  /** The process that claims. */
  holder: string;
  /** The duration of the lease without renewal, in milliseconds. */
  holdMs: number;
  /** The most deliveries to claim; 0 only renews the lease. */
  limit: number;
}

/**
 * `held`: whether the holder has the lease; if not, another process has it, or the subscription is not active. Claimed
 * deliveries are marked as being sent. Deliveries that a previous holder left unfinished are claimed first, with their
 * attempt recorded as interrupted.
 */
export type ClaimAnswer = { held: false } | { held: true; target: DeliveryTarget; deliveries: ClaimedDelivery[] };

/** The result of an attempt. */
export interface Outcome {
  uid: string;
  /**
   * The event that was sent. After the database was replaced by an older copy of itself, the delivery of another one
   * may have the uid: then the result is ignored. Defaults to whichever event the delivery is of.
   */
  eventId?: string;
  startMs: number;
  latencyMs: number;
  /** 0 without a response. */
  status: number;
  /** Empty when the sink accepted the event. */
  error: string;
  /** When the next attempt is due. Undefined when the delivery has ended, as delivered or dead. */
  nextMs?: number;
}

export interface RecordRequest {
  subscription: string;
  holder: string;
  outcomes: Outcome[];
  /** Claimed deliveries that were not sent; they are due as before, and no attempt is counted. */
  unsent?: string[];
  /** Set when the sink accepts no more events: the reason why the subscription is disabled. */
  disable?: string;
  /** The sink's response to the handshake. */
  handshake?: { atMs: number; allowedRate: number };
  /** Whether to release the lease, since the holder has nothing more to send. */
  release?: boolean;
}
