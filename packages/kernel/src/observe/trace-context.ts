import { AsyncLocalStorage } from "node:async_hooks";
import type { Span } from "@opentelemetry/api";

/** The trace of the current request. Set only for traced requests, so that others have no overhead. */
export const traceContext = new AsyncLocalStorage<{ traceId: string; span: Span | undefined }>();
