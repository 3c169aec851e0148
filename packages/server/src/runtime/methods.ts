import type {
  DescMessage,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageShape,
} from "@bufbuild/protobuf";
import { create, isMessage } from "@bufbuild/protobuf";
import {
  type Access,
  AccessService,
  Capability,
  TagsService,
  type Transaction,
  transaction,
} from "@moorage/api/messages";
import type { Call, CallData } from "@moorage/kernel/core/call";
import { isServerStreaming, isUnary } from "@moorage/kernel/core/method-kinds";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { isStored, type Stored } from "@moorage/kernel/core/stored-answer";
import type { Streamed } from "@moorage/kernel/core/streamed-answer";
import { after, type Awaitable } from "@moorage/kernel/lib/awaitable";
import { accessOf } from "@moorage/platform/auth";
import { keyOfCreateTag } from "@moorage/registry/registry";
import { AREAS } from "../areas.ts";
import { accessService } from "./access/service.ts";
import { optionOf } from "@moorage/kernel/lib/options";

interface Ruled {
  access: Access;
  transaction: Transaction;
}
export interface UnaryMethod extends Ruled {
  kind: "unary";
  desc: DescMethodUnary;
  /** Only a method that reads answers a list that is read while it is sent. */
  run(call: Call, request: Message): Awaitable<Message | Stored | Streamed>;
  /** What a call changes, where it may share a transaction; see CommandOptions. */
  keyOf?: KeyOf | undefined;
}

/** The access rule of a call of the method: for one that only replaces, it is the right to update tags. */
export function ruleOf({ access, desc }: UnaryMethod, { replaces }: CallData): Access {
  if (replaces === undefined || desc !== TagsService.method.createTag) return access;
  return { ...access, capabilities: [Capability.CAP_TAG_UPDATE] };
}

interface StreamMethod extends Ruled {
  kind: "stream";
  desc: DescMethodServerStreaming;
  /** Ends with the signal's reason soon after the signal is aborted. */
  open(call: Call, request: Message, signal: AbortSignal): AsyncIterable<Message>;
}
/** A method that is made of others: each is called by the same caller, with the rights and the transaction it needs. */
interface TranslatedMethod extends Ruled {
  kind: "translated";
  desc: DescMethodUnary;
  answer(context: TranslationContext, request: Message): Promise<Message | Streamed>;
}
/** What such a method is called with. */
export interface TranslationContext {
  data: CallData;
  /** Whether the client has disconnected. */
  hasLeft: (() => boolean) | undefined;
  /** Calls another method. */
  answer(method: DescMethodUnary, data: CallData, message: Message): Awaitable<Message | Stored | Streamed>;
}
/** A method of the API with the function that implements it. */
export type Method = UnaryMethod | StreamMethod | TranslatedMethod;

/**
 * The methods of all services by full name, e.g. `moorage.ping.v2.PingService.Ping`. Throws for a method without an
 * access rule.
 */
export function methodsOf(context: ServiceContext): Map<string, Method> {
  const table: Map<string, Method> = new Map([
    ...AREAS.flatMap(({ services = [] }) => services).flatMap(({ desc, make }) => methods(desc, make(context))),
    ...methods(
      AccessService,
      accessService(context, () => table),
    ),
  ]);
  return table;
}

type KeyOf = (request: Message) => string | undefined;

/** The methods that may share a transaction. */
const KEYS: ReadonlyMap<DescMethod, KeyOf> = new Map([keyed(TagsService.method.createTag, keyOfCreateTag)]);

function keyed<I extends DescMessage>(
  method: DescMethodUnary<I>,
  keyOf: (request: MessageShape<I>) => string | undefined,
): [DescMethod, KeyOf] {
  return [method, (request) => (isMessage(request, method.input) ? keyOf(request) : undefined)];
}

const names = new WeakMap<DescMethod, string>();

/** The method's full name, its key in the table. Cached, because every call needs it. */
export function nameOf(method: DescMethod): string {
  const known = names.get(method);
  if (known !== undefined) return known;
  const name = `${method.parent.typeName}.${method.name}`;
  names.set(method, name);
  return name;
}

function methods<S extends DescService>(service: S, implementation: Service<S>): [string, Method][] {
  // The type Service ensures that each function fits its method; this makes a table of them.
  const functions = implementation as Record<string, Answer & Opening>;
  return service.methods.map((desc): [string, Method] => {
    const answer = functions[desc.localName];
    if (answer === undefined) throw new Error(`${desc.toString()} is not served`);
    const ruled = { access: accessOf(desc), transaction: optionOf(desc, transaction) };
    if (isUnary(desc))
      return [nameOf(desc), { kind: "unary", desc, ...ruled, run: running(desc, answer), keyOf: KEYS.get(desc) }];
    if (isServerStreaming(desc)) return [nameOf(desc), { kind: "stream", desc, ...ruled, open: opening(desc, answer) }];
    throw new Error(`${desc.toString()} cannot be served: its caller streams`);
  });
}

type Answer = (call: Call, request: Message) => Awaitable<Record<string, unknown>>;
type Opening = (call: Call, request: Message, signal: AbortSignal) => AsyncIterable<Record<string, unknown>>;

function running(desc: DescMethodUnary, answer: Answer): (call: Call, request: Message) => Awaitable<Message | Stored> {
  return (call, request) =>
    after(answer(call, request), (answered): Message | Stored =>
      isStored(answered) ? answered : create(desc.output, answered),
    );
}

function opening(desc: DescMethodServerStreaming, open: Opening): StreamMethod["open"] {
  return async function* (call, request, signal) {
    for await (const each of open(call, request, signal)) yield create(desc.output, each);
  };
}
