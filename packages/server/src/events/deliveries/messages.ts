// What the queue of deliveries in the database and the process that sends them say to each other.

/** An event as it is sent, without what the installation adds: its prefix and its source. */
export interface QueuedEvent {
  id: string;
  /** Without the configured prefix. */
  type: string;
  subject: string;
  /** The group it happened in. */
  group: string;
  /** Its number among those of the subject. */
  number: number;
  timeMs: number;
  /** JSON text: {subject, act}. */
  actor: string;
  /** JSON text. */
  body: string;
}

/** Where the events of a subscription go. */
export interface DeliveryTarget {
  /** The subscription's uid. */
  subscription: string;
  /** The subscription's group. */
  group: string;
  sink: string;
  /** Sealed; the second is the one before, while it still signs. */
  secrets: string[];
  /** Requests a minute; 0: no limit. */
  allowedRate: number;
  /** When the sink was last asked by the handshake. Undefined: never. */
  handshakeMs?: number;
}

/** A delivery that the asking process is to send now. */
export interface ClaimedDelivery {
  uid: string;
  /** Tries of the running schedule before this one. */
  step: number;
  event: QueuedEvent;
}

export interface ClaimRequest {
  subscription: string;
  /** Who asks: a process. */
  holder: string;
  /** How long the subscription is the holder's without being asked for again, in milliseconds. */
  holdMs: number;
  /** At most so many deliveries; 0 only keeps the lease. */
  limit: number;
}

/**
 * `held`: the subscription is the holder's now; otherwise another process sends for it, or it is not active any more.
 * What is claimed is noted as being tried. What a process that held it before left unfinished is claimed again first,
 * its try noted as interrupted.
 */
export type ClaimAnswer = { held: false } | { held: true; target: DeliveryTarget; deliveries: ClaimedDelivery[] };

/** How a try ended. */
export interface Outcome {
  uid: string;
  startMs: number;
  latencyMs: number;
  /** 0: no answer. */
  status: number;
  /** Empty: the sink took it. */
  error: string;
  /** When it is tried next. Undefined: it is over, delivered or dead. */
  nextMs?: number;
}

export interface RecordRequest {
  subscription: string;
  holder: string;
  outcomes: Outcome[];
  /** Claimed deliveries that were not tried after all; they are due as before, and no try is counted. */
  unsent?: string[];
  /** Set: the sink wants no more, and why. The subscription is disabled. */
  disable?: string;
  /** What the sink answered to the handshake. */
  handshake?: { atMs: number; allowedRate: number };
  /** The holder sends nothing more for now: others may. */
  release?: boolean;
}
