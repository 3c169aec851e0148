import { Code, MoorageError } from "@moorage/kernel/errors";
import { quotaWords } from "@moorage/registry/registry";
import { lacksSpace, unexpectedFault } from "@moorage/kernel/lib/storage-fault";

/** What a client of libraries is answered instead of what it asked for. */
interface LibraryAnswer {
  status: number;
  /** For people: one line. */
  message: string;
  headers: Record<string, string>;
  error: MoorageError;
}

const STATUSES: Readonly<Record<Code, number>> = {
  [Code.InvalidArgument]: 400,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 403,
  [Code.Aborted]: 409,
  [Code.Unimplemented]: 405,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};
const CODES: Readonly<Record<number, Code>> = {
  400: Code.InvalidArgument,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.NotFound,
  405: Code.Unimplemented,
  406: Code.InvalidArgument,
  409: Code.AlreadyExists,
  413: Code.InvalidArgument,
  415: Code.InvalidArgument,
  416: Code.InvalidArgument,
  422: Code.InvalidArgument,
  502: Code.Unavailable,
  503: Code.Unavailable,
};

/**
 * An error with the HTTP status that clients of libraries expect. It keeps its status on the way from the writer
 * thread, which hands on code, message and details alone.
 */
export function libraryError(
  status: keyof typeof CODES,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): MoorageError {
  const metadata = { httpStatus: String(status), ...prefixed(headers) };
  return new MoorageError(CODES[status] ?? Code.InvalidArgument, message, { metadata });
}

const HEADER = "header:";

function prefixed(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${HEADER}${name}`, value]));
}

/** The answer to any thrown value. An unexpected error shows the client only the request's id. */
export function libraryAnswer(error: unknown, requestId: string): LibraryAnswer {
  const thrown = unexpectedFault(error) ?? error;
  if (!(thrown instanceof MoorageError)) {
    const internal = new MoorageError(Code.Internal, "Internal error", { metadata: { requestId }, cause: thrown });
    return { status: 500, message: `Internal error (request ${requestId})`, headers: {}, error: internal };
  }
  const { metadata = {}, retryAfterMs } = thrown.details;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(metadata))
    if (name.startsWith(HEADER)) headers[name.slice(HEADER.length)] = value;
  const isLater = thrown.code === Code.ResourceExhausted || thrown.code === Code.Unavailable;
  if (retryAfterMs !== undefined || isLater)
    headers["retry-after"] = String(Math.max(1, Math.ceil((retryAfterMs ?? 1000) / 1000)));
  const given = Number(metadata["httpStatus"]);
  const status = lacksSpace(thrown) ? 507 : Number.isInteger(given) ? given : STATUSES[thrown.code];
  return { status, message: quotaWords(thrown), headers, error: thrown };
}
