/**
 * What the handlers report of a request while they answer it. All names are the server's own, never a caller's input.
 */
export interface Observed {
  /** The trace that the request belongs to: the caller's, or a new one when traces are made. 32 hex characters. */
  readonly traceId?: string | undefined;
  /** The API method that was called, such as `moorage.iam.v2.GroupsService.ListGroups`. */
  readonly rpc?: string | undefined;
  /** The operation of the registry, such as `manifest_get`. */
  readonly verb?: string | undefined;
  /** The gRPC status code of the API method's answer, once it is known. */
  readonly code?: number | undefined;
  /** Bytes of bodies received and sent, as far as the registry counts them. */
  receivedBytes: number;
  sentBytes: number;
  beginRpc(method: string): void;
  /** The gRPC status code, 0 for OK. Only the first counts. */
  endRpc(code: number): void;
  beginVerb(verb: string): void;
  /** Runs the work as part of the request: its log lines and spans belong to the request's trace. */
  within<T>(work: () => T): T;
  /**
   * Ends the observation. `status` is the answer's HTTP status, or "aborted" when the client disconnected before it.
   */
  end(status: string): void;
}

/** The parts of a request that are observed, in either HTTP version. */
export interface ObservedHead {
  method?: string | undefined;
  url?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
}

/** Begins the observation of each request. */
export interface RequestObserver {
  /** `handler` is the name of the handler that takes the request, from a bounded set. */
  begin(head: ObservedHead, handler: string, data: { requestId: string; remoteAddress: string }): Observed;
}
