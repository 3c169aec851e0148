import { Code, MoorageError } from "@moorage/kernel/errors";
import { MAX_DEADLINE_MS } from "../http/limits.ts";

const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/**
 * A call's `grpc-timeout` in milliseconds. Throws INVALID_ARGUMENT for an invalid one, or one longer than a timer can
 * wait.
 */
export function grpcTimeoutMs(value: string): number {
  const unitMs = UNIT_MS[value.slice(-1)];
  const count = value.slice(0, -1);
  if (unitMs === undefined || !/^\d{1,8}$/.test(count))
    throw new MoorageError(Code.InvalidArgument, "Invalid argument: malformed grpc-timeout");
  const timeoutMs = Number(count) * unitMs;
  if (timeoutMs > MAX_DEADLINE_MS)
    throw new MoorageError(Code.InvalidArgument, "Invalid argument: the grpc-timeout is too long");
  return timeoutMs;
}
