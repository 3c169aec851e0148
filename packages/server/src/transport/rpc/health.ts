import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthCheckResponseSchema,
} from "@moorage/api/gen/health/v1/health_pb";
import type { Health } from "@moorage/api/gen/health/v1/health_pb";
import { Code, MoorageError } from "../../errors.ts";

/**
 * grpc.health.v1: the server ("") and each named service are SERVING until the signal is aborted, NOT_SERVING
 * afterwards. A watch sends the state immediately and at every change, and ends with the shutdown. Source: the gRPC
 * health checking protocol.
 */
export function health(services: readonly string[], shutdown: AbortSignal): ServiceImpl<typeof Health> {
  const known = new Set(["", ...services]);
  const current = () =>
    create(HealthCheckResponseSchema, { status: shutdown.aborted ? ServingStatus.NOT_SERVING : ServingStatus.SERVING });
  return {
    check({ service }) {
      if (!known.has(service))
        throw new MoorageError(Code.NotFound, "Service not found", { resource: { type: "service", name: service } });
      return current();
    },
    async *watch({ service }, { signal }) {
      if (!known.has(service)) yield create(HealthCheckResponseSchema, { status: ServingStatus.SERVICE_UNKNOWN });
      else yield current();
      if (shutdown.aborted) return;
      await anyAborted(shutdown, signal);
      // The list of services never changes, only the state of known ones.
      if (!signal.aborted && known.has(service)) yield current();
    },
    list() {
      return { statuses: Object.fromEntries([...known].map((service) => [service, current()])) };
    },
  };
}

function anyAborted(...signals: AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const signal of signals) signal.removeEventListener("abort", done);
      resolve();
    };
    for (const signal of signals) {
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    }
  });
}
