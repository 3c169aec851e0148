import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";
import { CodeSchema } from "@moorage/api/gen/google/rpc/code_pb";
import { ErrorInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { Code } from "../errors.ts";
import type { MoorageError } from "../errors.ts";
import { areaOf, errorDetails } from "./status.ts";

/** The error for Connect's three protocols, with the details REST gives. Its metadata become headers in Connect, trailers in gRPC. */
export function toConnectError(error: MoorageError, area: string, errorDomain: string): ConnectError {
  const metadata = new Headers();
  if (error.code === Code.Unauthenticated) metadata.set("www-authenticate", "Bearer");
  if (error.details.retryAfterMs !== undefined) metadata.set("retry-after", String(Math.ceil(error.details.retryAfterMs / 1000)));
  return new ConnectError(error.message, error.code, metadata, errorDetails(error, area, errorDomain), error);
}

/**
 * Gives the errors that Connect raises by itself (a message it cannot read, one too large, a deadline) their ErrorInfo: it aborts the
 * call's signal with the error just before it writes the answer. Source: contract §6, exactly one ErrorInfo each.
 */
export function completeErrors({ signal, service }: HandlerContext, errorDomain: string): void {
  const complete = (): void => {
    const error: unknown = signal.reason;
    if (!(error instanceof ConnectError) || error.details.length > 0) return;
    const reason = CodeSchema.value[error.code]?.name ?? "UNKNOWN";
    error.details.push({ desc: ErrorInfoSchema, value: create(ErrorInfoSchema, { reason, domain: `${areaOf(service.typeName)}.${errorDomain}` }) });
  };
  if (signal.aborted) complete();
  else signal.addEventListener("abort", complete, { once: true });
}
