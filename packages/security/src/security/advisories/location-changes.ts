import { create, fromBinary, fromJson, type JsonValue, toBinary, toJsonString } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { AdvisoryEvent } from "@moorage/api/messages";
import {
  type AdvisoryEvent_ComponentLocationChanged as LocationChange,
  AdvisoryEvent_ComponentLocationChangedSchema as LocationChangeSchema,
  AdvisoryEventSchema as V1EventSchema,
  EventTypeFilter,
} from "@moorage/api/v1/vulnerabilities";
import type { CallData } from "@moorage/kernel/core/call";
import type { Row } from "@moorage/kernel/store";

// Events that say that a component is found at another place are events of v1 alone. They are rows like all others,
// with a type that v2 does not know, and keep `previousLocation`, `newLocation` and `note` as they are. v2 does not
// show them, and they decide nothing. Between v1's methods and those of v2 that they are made of, they travel in an
// unknown field of the event.

/** The type of such an event in its row, and in v1's filters. */
export const LOCATION_CHANGED: number = EventTypeFilter.COMPONENT_LOCATION_CHANGED;

/** No message has a field of this number: protobuf keeps the range for its libraries. */
const FIELD = 19_016;

/** What the event says, when a method of v1 writes or reads it; undefined for an event of a type that v2 has. */
export function locationChangeOf({ v1 }: Pick<CallData, "v1">, event: AdvisoryEvent): LocationChange | undefined {
  if (v1 !== true || event.type.case !== undefined) return undefined;
  const field = event.$unknown?.findLast(({ no, wireType }) => no === FIELD && wireType === WireType.LengthDelimited);
  return field === undefined ? undefined : fromBinary(LocationChangeSchema, new BinaryReader(field.data).bytes());
}

/** Has the event say this, or nothing that v2 does not know. */
export function setLocationChange(event: AdvisoryEvent, change: LocationChange | undefined): void {
  const others = (event.$unknown ?? []).filter(({ no }) => no !== FIELD);
  if (change !== undefined) {
    const data = new BinaryWriter().bytes(toBinary(LocationChangeSchema, change)).finish();
    others.push({ no: FIELD, wireType: WireType.LengthDelimited, data });
  }
  event.$unknown = others;
}

/** The columns of a row that hold what such an event says. */
export function locationColumns(change: LocationChange): Pick<Row<"advisory_events">, "type" | "content"> {
  const type = { case: "componentLocationChanged", value: change } as const;
  return { type: LOCATION_CHANGED, content: toJsonString(V1EventSchema, create(V1EventSchema, { type })) };
}

/** What a row of such an event says; undefined for one of another type. */
export function locationChangeIn({
  type,
  content,
}: Pick<Row<"advisory_events">, "type" | "content">): LocationChange | undefined {
  if (type !== LOCATION_CHANGED) return undefined;
  const read = fromJson(V1EventSchema, JSON.parse(content) as JsonValue, { ignoreUnknownFields: true }).type;
  return read.case === "componentLocationChanged" ? read.value : undefined;
}

/** The types of events that the caller is not shown; never empty. */
export const hiddenFrom = ({ v1 }: Pick<CallData, "v1">): readonly number[] =>
  v1 === true ? [-1] : [LOCATION_CHANGED];
