/** A field of the request that is wrong, and why. Source: google.rpc.BadRequest. */
export interface FieldViolation {
  field: string;
  description: string;
}

/** What the server answered instead of what was asked for. Source: AIP-193. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** The HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The reason, such as NOT_FOUND; UNAVAILABLE when no answer came. */
  readonly code: string;
  /** Fields of the request that are wrong. */
  readonly violations: readonly FieldViolation[];
  /** The id by which the operator finds the request in the log; empty when no answer came. */
  readonly requestId: string;

  constructor(status: number, { code, message, violations = [], requestId = "" }: ErrorParts) {
    super(message);
    this.status = status;
    this.code = code;
    this.violations = violations;
    this.requestId = requestId;
  }
}

interface ErrorParts {
  code: string;
  message: string;
  violations?: readonly FieldViolation[];
  requestId?: string;
}

interface Body {
  message?: string;
  details?: { reason?: string; fieldViolations?: FieldViolation[] }[];
}

/** The error that the answer is. */
export async function errorOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-request-id") ?? "";
  const body = (await response.json().catch(() => ({}))) as Body;
  const { message = `the server answered ${response.status}`, details = [] } = body;
  const code = details.find(({ reason }) => reason !== undefined)?.reason ?? "UNKNOWN";
  const violations = details.flatMap((detail) => detail.fieldViolations ?? []);
  return new ApiError(response.status, { code, message: plain(message), violations, requestId });
}

/** The error of a request that got no answer. */
export function noAnswer(): ApiError {
  return new ApiError(0, {
    code: "UNAVAILABLE",
    message: "The server is not responding. Check the connection; the page tries again by itself.",
  });
}

// `Not found: there is …`: the first words only name the code.
const CODE_NAMES = /^[A-Z][a-z]+(?: [a-z]+){0,2}: /;

/** The message without the name of its code before it, as a sentence. */
function plain(message: string): string {
  const text = message.replace(CODE_NAMES, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The error of a field of a form, as the server would have said it. */
export function invalid(field: string, description: string): ApiError {
  return new ApiError(400, {
    code: "INVALID_ARGUMENT",
    message: "Some fields need to be corrected.",
    violations: [{ field, description }],
  });
}
