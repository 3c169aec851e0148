// How a command says by its exit code what went wrong.

/** The exit codes of every command; docs/cli/introduction.md lists them for users. */
export const EXIT = {
  ok: 0,
  /** Anything that no other code names: the server's INVALID_ARGUMENT and INTERNAL too. */
  error: 1,
  /** The command line is wrong: nothing was asked of a server. */
  usage: 2,
  /** NOT_FOUND, or a name that stands for nothing that the caller may see. */
  notFound: 3,
  /** UNAUTHENTICATED, or no sign-in on this machine. */
  notSignedIn: 4,
  /** PERMISSION_DENIED. */
  denied: 5,
  /** ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED. */
  conflict: 6,
  /** UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, or no connection. */
  unavailable: 7,
  /** What was asked about is not known: an image that was not read, or that no feed covers. */
  unknown: 8,
  /** Some of several items failed; the others were done. */
  someFailed: 9,
  /** SIGINT: 128 + 2. */
  interrupted: 130,
  /** SIGTERM: 128 + 15. */
  terminated: 143,
} as const;

// The codes of google.rpc.Code with an exit code of their own.
const BY_RPC_CODE: Readonly<Record<number, number>> = {
  4: EXIT.unavailable,
  5: EXIT.notFound,
  6: EXIT.conflict,
  7: EXIT.denied,
  8: EXIT.unavailable,
  9: EXIT.conflict,
  10: EXIT.conflict,
  14: EXIT.unavailable,
  16: EXIT.notSignedIn,
};

const BY_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.notSignedIn,
  403: EXIT.denied,
  404: EXIT.notFound,
  409: EXIT.conflict,
  412: EXIT.conflict,
  429: EXIT.unavailable,
  502: EXIT.unavailable,
  503: EXIT.unavailable,
  504: EXIT.unavailable,
};

/** The exit code for a call that failed with this gRPC code. Source: google.rpc.Code. */
export function exitOfRpcCode(code: number): number {
  return BY_RPC_CODE[code] ?? EXIT.error;
}

/** The exit code for a response with this HTTP status, where the body has no gRPC code. 0 below 400. */
export function exitOfStatus(status: number): number {
  return status < 400 ? EXIT.ok : (BY_STATUS[status] ?? EXIT.error);
}
