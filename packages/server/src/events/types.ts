import { type DescMessage, type DescMethod, getOption } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import {
  event as eventOption,
  event_types as typesOption,
  file_moorage_events_v2_event_bodies as bodiesFile,
  ResourceDeletedSchema,
} from "@moorage/api";

/** A type of events, as the contract declares it. */
export interface EventType {
  /** Without the configured prefix. */
  type: string;
  body: DescMessage;
  /** The methods whose work it tells of. */
  methods: DescMethod[];
  /**
   * Whether a message names it for its own. Then it is told of where it happens, whatever the way there was; otherwise
   * by the methods' answers.
   */
  hasOwnBody: boolean;
}

/**
 * Every type of events, read from the options of the methods and of the messages that are bodies alone. The body of a
 * method's event is what the method answers, of several the first's; of one that answers nothing, ResourceDeleted.
 */
export function eventTypes(methods: Iterable<DescMethod>): Map<string, EventType> {
  const found = new Map<string, EventType>();
  for (const body of bodiesFile.messages) {
    for (const type of getOption(body, typesOption)) found.set(type, { type, body, methods: [], hasOwnBody: true });
  }
  for (const method of methods) {
    const type = getOption(method, eventOption);
    if (type === "") continue;
    const body = method.output.typeName === EmptySchema.typeName ? ResourceDeletedSchema : method.output;
    const known: EventType = found.get(type) ?? { type, body, methods: [], hasOwnBody: false };
    known.methods.push(method);
    found.set(type, known);
  }
  return found;
}
