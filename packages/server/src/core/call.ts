import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import type { Capability } from "@moorage/api";
import type { Database } from "../store/index.ts";

/** Who calls, as the verified token says. Rights are not in it: they are read from the bindings at every call. */
export interface Caller {
  /** The identity's uid. Empty: nobody was authenticated. */
  identity: string;
  /** Only these capabilities, whatever the bindings say. Absent: not narrowed. */
  capabilities?: Capability[];
  /** Only at these groups and below, whatever the bindings say. Absent: not narrowed. */
  scopes?: string[];
  /** Only these repositories and actions, as the distribution token protocol has them. Absent: not narrowed. */
  repositories?: { name: string; actions: string[] }[];
  /** The `jti` of the token. */
  tokenId?: string;
  /** The token's audiences. */
  audiences?: string[];
  /** When the token ends, in milliseconds since 1970. A token exchanged for it never outlives it. */
  expiresAtMs?: number;
  /** Claims of the external token, for events and audit. */
  act?: Record<string, unknown>;
  /**
   * The groups a person is in at an identity provider, by its uid, as the provider's token said that was good until
   * `untilMs`, in milliseconds since
   * 1970. What they give is read from the provider's mappings at every call. Absent: no rights come from groups.
   */
  external?: { provider: string; groups: string[]; untilMs: number };
}

/** What is known of a call before it is worked on; plain data, so that it can cross to the writing thread. */
export interface CallData {
  caller: Caller;
  requestId: string;
  /** Milliseconds since 1970: the time of the call. Services never read the clock. */
  nowMs: number;
  remoteAddress: string;
  userAgent: string;
}

/** A call as a room sees it: who, when, and the transaction to work in. */
export interface Call extends CallData {
  /** The transaction of a writing call, a reader otherwise. The only way to the database. */
  tx: Database;
  /** Whether the caller holds the capability on the resource or any of its ancestors. */
  may(capability: Capability, uid: string): Promise<boolean>;
  /**
   * The groups, outermost only, at and below which the caller holds all the capabilities. What it lists comes from
   * there.
   */
  visible(...capabilities: Capability[]): Promise<string[]>;
  /**
   * Tells that something happened: the event is appended at the end of the call's transaction, so it is there if, and
   * only if, what it tells of is. Of a call that only reads nothing is told. Answers the event's id. Source: contract
   * §9.
   */
  emit<D extends DescMessage>(schema: D, event: NewEvent<D>): string;
  /** Whether another identity holds it there, by its bindings: for what it said earlier and what is done only now. */
  heldBy(identity: string, capability: Capability, uid: string): Promise<boolean>;
}

/** What happened. */
export interface NewEvent<D extends DescMessage> {
  /** Without the configured prefix, e.g. `registry.push.v1`. */
  type: string;
  /** The uid of the resource it happened to. */
  subject: string;
  /** The group it happened in: subscriptions of it and of its ancestors get the event. Empty: none does. */
  group: string;
  /** What is told of it. Fields marked `debug_redact` are never told, and texts that are very long are left out. */
  body: MessageInitShape<D>;
  /** The only subscription it is for. Absent: all that it concerns. */
  target?: string;
  /** The server did it by itself. */
  isSystem?: boolean;
  /** Who did it, where the call is what makes somebody a caller. Absent: the caller. */
  by?: Actor;
}

/** Who did something: an identity, and the claims of the external token that it was assumed by. */
export interface Actor {
  identity: string;
  act: Readonly<Record<string, unknown>>;
}

/** What happened in a call, not appended yet. */
export interface PendingEvent extends Omit<NewEvent<DescMessage>, "body"> {
  id: string;
  schema: DescMessage;
  body: Message;
}

/** Nobody. */
export const ANONYMOUS: Caller = { identity: "" };
