import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** The trace that whatever runs now belongs to. Entered only for requests that have one, so that others pay nothing. */
export const traceContext = new AsyncLocalStorage<{ traceId: string; span: Span | undefined }>();
