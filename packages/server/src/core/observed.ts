/**
 * What the handlers report of a request while they answer it. Names are the program's own, never what a caller made up.
 */
export interface Observed {
  /** The trace the request belongs to: the caller's, or a new one when traces are made. 32 hex characters. */
  readonly traceId?: string | undefined;
  /** The API method that is called, such as `moorage.iam.v2.GroupsService.ListGroups`. */
  readonly rpc?: string | undefined;
  /** What is asked of the registry, such as `manifest_get`. */
  readonly verb?: string | undefined;
  /** The gRPC status code of the API method's answer, when it is known. */
  readonly code?: number | undefined;
  /** Bytes of bodies that came and went, as far as the registry counts them. */
  receivedBytes: number;
  sentBytes: number;
  beginRpc(method: string): void;
  /** The gRPC status code, 0 for OK. Only the first counts. */
  endRpc(code: number): void;
  beginVerb(verb: string): void;
  /** Runs the work as part of the request: log lines and spans made in it belong to its trace. */
  within<T>(work: () => T): T;
  /** The answer is on its way, or the client gone: `status` is then "aborted". */
  end(status: string): void;
}

/** What is looked at in a request, of either HTTP version. */
export interface ObservedHead {
  method?: string | undefined;
  url?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
}

/** Makes an observed request of each that comes. */
export interface RequestObserver {
  /** `handler`: which one takes it, from a bounded set of names. */
  begin(head: ObservedHead, handler: string, data: { requestId: string; remoteAddress: string }): Observed;
}
