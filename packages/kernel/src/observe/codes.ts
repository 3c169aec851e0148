import { CodeSchema } from "@moorage/api/gen/google/rpc/code_pb";

const NAMES = new Map<number, string>(CodeSchema.values.map(({ number, name }) => [number, name]));

/** The name of a gRPC status code: `NOT_FOUND` for 5. */
export function codeName(code: number): string {
  return NAMES.get(code) ?? "UNKNOWN";
}
