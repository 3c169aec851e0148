/** The bounds of the port. Every figure can be overridden; the defaults suit a server that also takes large uploads. */
export interface PortLimits {
  /** How long a new connection may stay silent before its protocol is known. */
  peekTimeoutMs: number;
  /** How long a TLS handshake may take. */
  handshakeTimeoutMs: number;
  /**
   * Until when the head of an HTTP/1.1 request must have arrived. A request's body has no such end, only the idle
   * time-out.
   */
  headersTimeoutMs: number;
  /** How long an HTTP/1.1 connection is kept between two requests. */
  keepAliveTimeoutMs: number;
  /**
   * How long a connection may stay without a byte in either direction before it is closed (HTTP/1.1) or probed
   * (HTTP/2).
   */
  idleTimeoutMs: number;
  /** How long the peer of a silent HTTP/2 connection may take to answer a ping before it is taken for gone. */
  probeTimeoutMs: number;
  /** How long a client may go on sending a body that was answered already, before its connection is cut. */
  lingerTimeoutMs: number;
  /** The size of a request's head; tokens in it are large. */
  maxHeaderBytes: number;
  /** Connections at a time; one more is closed at once. */
  maxConnections: number;
  /** Concurrent streams of one HTTP/2 connection. */
  maxStreams: number;
  /** How much of one HTTP/2 request body is taken in before the handler reads it. */
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

/** The size of one gRPC, gRPC-Web or Connect message, decompressed, where no setting says otherwise. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;

/** The longest deadline a caller may name: the longest a timer can wait. */
export const MAX_DEADLINE_MS = 2 ** 31 - 1;
