/** The limits of the port. The defaults suit a server that also accepts large uploads. */
export interface PortLimits {
  /** How long a new connection may send nothing before its protocol is known. */
  peekTimeoutMs: number;
  /** How long a TLS handshake may take. */
  handshakeTimeoutMs: number;
  /**
   * How long the head of an HTTP/1.1 request may take to arrive. The body has no such limit, only the idle time-out.
   */
  headersTimeoutMs: number;
  /** How long an idle HTTP/1.1 connection stays open between two requests. */
  keepAliveTimeoutMs: number;
  /** How long a connection may pass no byte in either direction before it is closed (HTTP/1.1) or pinged (HTTP/2). */
  idleTimeoutMs: number;
  /** How long the peer of a silent HTTP/2 connection may take to answer a ping before the connection is destroyed. */
  probeTimeoutMs: number;
  /** How long a client may go on sending a body after its answer before its connection is cut. */
  lingerTimeoutMs: number;
  /** The size of a request's head. Tokens in it may be large. */
  maxHeaderBytes: number;
  /** Concurrent connections; one more is closed immediately. */
  maxConnections: number;
  /** Concurrent streams of one HTTP/2 connection. */
  maxStreams: number;
  /** How much of one HTTP/2 request body is received before its handler reads it. */
  streamWindowBytes: number;
  /** The same for all streams of a connection together. */
  sessionWindowBytes: number;
}

export const PORT_LIMITS: PortLimits = {
  peekTimeoutMs: 10_000,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 20_000,
  keepAliveTimeoutMs: 75_000,
  idleTimeoutMs: 120_000,
  probeTimeoutMs: 10_000,
  lingerTimeoutMs: 10_000,
  maxHeaderBytes: 32 * 1024,
  maxConnections: 10_000,
  maxStreams: 128,
  streamWindowBytes: 512 * 1024,
  sessionWindowBytes: 2 * 1024 * 1024,
};

/** The largest gRPC, gRPC-Web or Connect message, decompressed, unless a setting says otherwise. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/**
 * The most values of a request's message: fields, elements of lists, entries of maps. Reading so many takes some
 * milliseconds; a message of the largest size may have 50 times as many.
 */
export const MAX_MESSAGE_VALUES = 20_000;

/** The longest deadline that a caller may set: the longest delay of a timer. */
export const MAX_DEADLINE_MS = 2 ** 31 - 1;
