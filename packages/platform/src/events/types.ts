import type { DescMessage, DescMethod } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import {
  event as eventOption,
  event_types as typesOption,
  file_moorage_events_v2_event_bodies as bodiesFile,
  ResourceDeletedSchema,
} from "@moorage/api/messages";
import { optionOf } from "@moorage/kernel/lib/options";

/** A type of events, as the `.proto` files declare it. */
export interface EventType {
  /** Without the configured prefix. */
  type: string;
  body: DescMessage;
  /** The methods that emit it. */
  methods: DescMethod[];
  /**
   * Whether a message declares it as its own type. Then the code that makes the change emits it, whatever request led
   * there; otherwise it is emitted from the methods' responses.
   */
  hasOwnBody: boolean;
}

/** The events of tags that came to point to something. */
export const TAG_MOVES: readonly string[] = [
  "api.platform.registry.tag.created.v1",
  "api.platform.registry.tag.updated.v1",
];

/**
 * Every type of events, from the options of the methods and of the messages that are only event bodies. The body of a
 * method's event is the method's response (of several methods, the first one's); for an empty response it is
 * ResourceDeleted.
 */
export function eventTypes(methods: Iterable<DescMethod>): Map<string, EventType> {
  const found = new Map<string, EventType>();
  for (const body of bodiesFile.messages) {
    for (const type of optionOf(body, typesOption)) found.set(type, { type, body, methods: [], hasOwnBody: true });
  }
  for (const method of methods) {
    const type = optionOf(method, eventOption);
    if (type === "") continue;
    const body = method.output.typeName === EmptySchema.typeName ? ResourceDeletedSchema : method.output;
    const known: EventType = found.get(type) ?? { type, body, methods: [], hasOwnBody: false };
    known.methods.push(method);
    found.set(type, known);
  }
  return found;
}

/** The full names of the messages in the bodies of events, by type. */
export function bodyTypes(methods: Iterable<DescMethod>): ReadonlyMap<string, string> {
  return new Map([...eventTypes(methods).values()].map(({ type, body }) => [type, body.typeName]));
}
