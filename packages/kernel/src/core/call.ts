import type { DescMessage, Message, MessageInitShape } from "@bufbuild/protobuf";
import type { Capability } from "@moorage/api/messages";
import type { Awaitable } from "../lib/awaitable.ts";
import type { Database, Row } from "../store/index.ts";
import type { Work } from "./work.ts";
import type { Written } from "./written-answer.ts";

/**
 * The authenticated identity, as the verified token says. It has no rights: they are read from the bindings at every
 * call.
 */
export interface Caller {
  /** The identity's uid. Empty for an anonymous caller. */
  identity: string;
  /** Restricts the caller to these capabilities, whatever the bindings say. Undefined when not restricted. */
  capabilities?: Capability[];
  /**
   * Restricts the caller to these groups and their descendants, whatever the bindings say. Undefined when not
   * restricted.
   */
  scopes?: string[];
  /**
   * Restricts the caller to these repositories and actions, in the terms of the distribution token protocol. Undefined
   * when not restricted. With a `digest` the entry covers that manifest and what it consists of, and nothing else.
   */
  repositories?: { name: string; actions: string[]; digest?: string }[];
  /** The repositories to which the token of a restricted caller was asked to push as well, without the right to. */
  refused?: string[];
  /** Whether a caller who is restricted to repositories may list those that it can see. */
  catalog?: boolean;
  /** The `jti` of the token. */
  tokenId?: string;
  /** The token's audiences. */
  audiences?: string[];
  /** The uid of the browser session that the token comes from: it ends with the session. Undefined for others. */
  session?: string;
  /**
   * The uid of the personal token that the caller sent, or that its token was exchanged for: it ends with that one, and
   * makes no other. Undefined for others.
   */
  personalToken?: string;
  /**
   * The OAuth client that the token was issued to: a client id of this server, or the URL of a client's metadata
   * document. Undefined for tokens that were exchanged for another one.
   */
  client?: string;
  /** When the token expires, in milliseconds since 1970. A token exchanged for it never outlives it. */
  expiresAtMs?: number;
  /** Claims of the external token, for events and audit. */
  act?: Record<string, unknown>;
  /**
   * Repositories of other installations, each with the upstream by whose group it is here, that a pull token of theirs
   * may pull there. The caller has no identity here, and pulls what came from these. Undefined for others.
   */
  center?: { upstream: string; name: string }[];
  /**
   * The person's groups at an identity provider (by its uid), as stated by the provider's token that was valid until
   * `untilMs`, in milliseconds since 1970. The rights they give are read from the provider's mappings at every call.
   * Undefined when no rights come from groups.
   */
  external?: {
    provider: string;
    groups: string[];
    /** The uid of the row of `sign_in_groups` that has all groups, where they are too many for a token. */
    set?: string;
    untilMs: number;
  };
}

/** The data of a call before its message is read. Plain data, so that it can be sent to the writer thread. */
export interface CallData {
  caller: Caller;
  requestId: string;
  /** Milliseconds since 1970: the time of the call. Services never read the clock. */
  nowMs: number;
  /** The agreed time of the call (lib/clock.ts), for leases and due times. Defaults to `nowMs`. */
  agreedMs?: number;
  remoteAddress: string;
  userAgent: string;
  /**
   * Set when the server itself reads a whole list, page by page: pages may have 1,000 rows, and nobody counts what they
   * are of.
   */
  bulk?: boolean;
  /** Set when a method of v1 calls: what v1 alone has is read and written, too. The method has checked its request. */
  v1?: boolean;
  /**
   * What was read before the transaction of a call that writes, by whom it is for: it is used where nothing has changed
   * since, so that the transaction is short. Plain data.
   */
  ahead?: Readonly<Record<string, unknown>>;
  /**
   * Set by v1's update of a tag, which v2 has none of: CreateTag then changes the tag with this uid, with the right to
   * update tags alone, and throws NOT_FOUND where the repo's tag of that name is none or another one.
   */
  replaces?: string;
}

/** The time of day, in milliseconds since 1970, at which something is due by the agreed time; to be shown. */
export function timeOfDayMs({ nowMs, agreedMs }: Pick<Call, "nowMs" | "agreedMs">, dueMs: number): number {
  // Differences below a second are none: they would show another time in every answer.
  return dueMs - Math.trunc((agreedMs - nowMs) / 1000) * 1000;
}

/** A call in the form that a service gets: its caller, its time, and its transaction. */
export interface Call extends CallData {
  agreedMs: number;
  /** The transaction of a writing call, otherwise a reader. The only access to the database. */
  tx: Database;
  /** What areas above keep below the resources of areas below them. */
  below: AllBelow;
  /** Whether the caller holds the capability on the resource or any of its ancestors. */
  may(capability: Capability, uid: string): Awaitable<boolean>;
  /**
   * The outermost groups at and below which the caller holds all the capabilities. Lists return resources of these
   * groups.
   */
  visible(...capabilities: Capability[]): Awaitable<string[]>;
  /**
   * Emits an event: it is appended at the end of the call's transaction, so it exists if and only if the change does. A
   * call that only reads emits nothing. Returns the event's id. Source: docs/contract.md, "Events".
   */
  emit<D extends DescMessage>(schema: D, event: NewEvent<D>): string;
  /**
   * Says that this transaction leaves something to do for background work: this process begins with it after the
   * commit, once for however many transactions, instead of at its next look. Other processes find it by looking.
   */
  wake(work: Work): void;
  /**
   * Throws ABORTED when the client has left: for reads of many steps, between two of them. A transaction never depends
   * on it.
   */
  requireCaller(): void;
  /**
   * Says how many rows the next step loads, or how many elements it makes, before it does: `Call.weigh(0)` costs
   * nothing. Where there are too many for a thread that others wait for, it throws TooHeavyHere, and the call is made
   * again in another process, where this throws nothing. A call that writes is never too heavy.
   */
  weigh(rows: number): void;
  /**
   * Makes a part of a list that is read while it is sent in another process: the answer of the same method to another
   * request, for a part that is too heavy here.
   */
  elsewhere(request: Message, rows: number): Promise<Written>;
  /**
   * Whether another identity holds the capability there, by its bindings: for work that an identity requested earlier
   * and that is done only now.
   */
  heldBy(identity: string, capability: Capability, uid: string): Awaitable<boolean>;
}

/** An event to emit. */
interface NewEvent<D extends DescMessage> {
  /** Without the configured prefix, e.g. `registry.push.v1`. */
  type: string;
  /** The uid of the resource that the event is about. */
  subject: string;
  /** The group of the event: subscriptions of it and of its ancestors get the event. With an empty one, none does. */
  group: string;
  /** The event's content. Fields marked `debug_redact` are left out, as are very long texts. */
  body: MessageInitShape<D>;
  /** The only subscription that gets the event. Undefined when all that cover it do. */
  target?: string;
  /** Whether the server caused the event by itself. */
  isSystem?: boolean;
  /** The actor, where only this call authenticates it. Defaults to the caller. */
  by?: Actor;
}

/** An identity that acted, and the claims of the external token by which it was assumed. */
export interface Actor {
  identity: string;
  act: Readonly<Record<string, unknown>>;
}

/** An emitted event that is not appended yet. */
export interface PendingEvent extends Omit<NewEvent<DescMessage>, "body"> {
  id: string;
  schema: DescMessage;
  body: Message;
}

/** The anonymous caller. */
export const ANONYMOUS: Caller = { identity: "" };

/** Resources that keep what they are below from being deleted: what they are called, and how many there are. */
export interface Hindrance {
  words: string;
  count: number;
}

/** An image as one repo has it. */
export interface StoredImage {
  repo: string;
  digest: string;
}

/**
 * What an area keeps below resources of areas that know nothing of it. Each function is called in the transaction that
 * changes the resource, and emits the events of what it changes itself.
 */
export interface Below {
  readonly group?: {
    /** What keeps the group from being deleted. */
    hindrances?(call: Call, group: string): Promise<Hindrance[]>;
    /** Removes what goes with the group, after nothing has kept it. */
    end?(call: Call, group: string): Promise<void>;
  };
  readonly repo?: {
    /** Removes what goes with the repo. */
    end(call: Call, repo: string): Promise<void>;
    /** Copies the repo from its source from now on, which is a new one; undefined: from none. */
    follow?(call: Call, repo: string, mirror: Omit<Row<"mirrors">, "repo"> | undefined): Promise<void>;
    /** Copies it as soon as that can be. */
    sync?(call: Call, repo: string, mirror: Pick<Row<"mirrors">, "next_time" | "state">): Promise<void>;
  };
  readonly identity?: {
    /** Ends what the identity is signed in by. */
    end(call: Call, identity: string): Promise<void>;
  };
  readonly identityProvider?: {
    /** Ends what signs people of the provider in again without it. */
    signOut(call: Call, provider: string): Promise<void>;
  };
  readonly image?: {
    /** Notes that a repo has an image whose file systems may not have been read. */
    stored(call: Call, image: StoredImage): Promise<void>;
  };
}

/** The same of all areas. */
export type AllBelow = {
  readonly [K in keyof Below]-?: readonly NonNullable<Below[K]>[];
};
