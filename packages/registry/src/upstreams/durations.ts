import { fromJsonString } from "@bufbuild/protobuf";
import { type Duration, DurationSchema } from "@bufbuild/protobuf/wkt";

/** A duration from its column, in milliseconds; `otherwise` where there is none. */
export function durationMs(column: string | null, otherwise: number): number {
  return column === null ? otherwise : Number(durationOf(column).seconds) * 1_000;
}

/** A duration from its column: whole seconds, as the service writes them. */
export function durationOf(column: string): Duration {
  return fromJsonString(DurationSchema, column);
}
