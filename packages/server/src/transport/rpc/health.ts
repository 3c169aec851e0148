import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthCheckResponseSchema,
} from "@moorage/api/gen/health/v1/health_pb";
import type { Health } from "@moorage/api/gen/health/v1/health_pb";
import { Code, MoorageError } from "@moorage/kernel/errors";

const LOOK_EVERY_MS = 1_000;

/**
 * grpc.health.v1: the server ("") and each named service are SERVING while there is no problem and the signal is not
 * aborted, NOT_SERVING otherwise. A watch sends the state immediately and at every change, looks for problems every
 * second, and ends with the shutdown. Source: the gRPC health checking protocol.
 */
export function health(
  services: readonly string[],
  shutdown: AbortSignal,
  problem: () => string | undefined = () => undefined,
): ServiceImpl<typeof Health> {
  const known = new Set(["", ...services]);
  const status = (): ServingStatus =>
    shutdown.aborted || problem() !== undefined ? ServingStatus.NOT_SERVING : ServingStatus.SERVING;
  const current = () => create(HealthCheckResponseSchema, { status: status() });
  return {
    check({ service }) {
      if (!known.has(service))
        throw new MoorageError(Code.NotFound, "Service not found", { resource: { type: "service", name: service } });
      return current();
    },
    async *watch({ service }, { signal }) {
      if (!known.has(service)) {
        yield create(HealthCheckResponseSchema, { status: ServingStatus.SERVICE_UNKNOWN });
        // The list of services never changes, only the state of known ones.
        if (!shutdown.aborted) await anyAborted(undefined, shutdown, signal);
        return;
      }
      let sent = status();
      yield create(HealthCheckResponseSchema, { status: sent });
      while (!shutdown.aborted && !signal.aborted) {
        await anyAborted(LOOK_EVERY_MS, shutdown, signal);
        if (signal.aborted || status() === sent) continue;
        sent = status();
        yield create(HealthCheckResponseSchema, { status: sent });
      }
    },
    list() {
      return { statuses: Object.fromEntries([...known].map((service) => [service, current()])) };
    },
  };
}

/** Resolves when one of the signals is aborted, or the time is over. */
function anyAborted(timeMs: number | undefined, ...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = timeMs === undefined ? undefined : setTimeout(done, timeMs).unref();
    for (const signal of signals) {
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    }
  });
}
