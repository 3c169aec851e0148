// A call that the server answered with an error (AIP-193), as people read it.
import { EXIT, exitOfRpcCode, exitOfStatus } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { endOf } from "../claims.ts";
import { plain } from "../printable.ts";

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** A field of the request that the server does not accept. */
export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

/** The names of google.rpc.Code, by number. */
const CODES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];
// The server's messages begin with the code in words.
const CODE_IN_WORDS =
  /^(?:Invalid argument|Not found|Precondition failed|Permission denied|Unauthenticated|Unavailable|Aborted): /;
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;

/** A failed call, with what the server said about it. */
export class ApiFailure extends Failure {
  /** The gRPC code; 2 (UNKNOWN) where the response names none. */
  readonly code: number;
  /** ErrorInfo's reason, in capitals; empty without one. */
  readonly reason: string;
  readonly httpStatus: number;
  /** The details as they came, each with its `@type`. */
  readonly details: readonly JsonObject[];
  readonly fieldViolations: readonly FieldViolation[];
  /** After how many milliseconds the server asks to be called again. */
  readonly retryDelayMs: number | undefined;
  readonly requestId: string | undefined;

  /** `token`: what the request carried. */
  constructor(response: Response, body: JsonObject | undefined, url: string, token?: string) {
    const details = (Array.isArray(body?.["details"]) ? body["details"] : []).filter(isObject);
    const code = typeof body?.["code"] === "number" ? body["code"] : 2;
    const isNamed = body !== undefined && typeof body["code"] === "number";
    const violations = violationsOf(details);
    const answered = { response, body, url, token, code, isNamed, details, violations };
    const { message, hint } = wordsOf(answered);
    super(message, {
      exit: exitFor(answered),
      ...(hint && { hint }),
    });
    this.code = code;
    this.reason = text(detail(details, "ErrorInfo")?.["reason"]);
    this.httpStatus = response.status;
    this.details = details;
    this.fieldViolations = violations;
    this.retryDelayMs = retryDelayOf(response, details);
    this.requestId = response.headers.get("x-request-id") ?? undefined;
  }
}

interface Answered {
  response: Response;
  body: JsonObject | undefined;
  url: string;
  token: string | undefined;
  code: number;
  isNamed: boolean;
  details: readonly JsonObject[];
  violations: readonly FieldViolation[];
}

function wordsOf({ response, body, url, token, code, isNamed, details, violations }: Answered): {
  message: string;
  hint?: string;
} {
  const { origin, pathname } = new URL(url);
  if (!isNamed)
    return {
      message: `${origin} answered with the status ${response.status}${location(response)}, which is no answer of Moorage's`,
    };
  if (isUnknownPath({ response, code, details, violations }))
    return {
      message: `UNIMPLEMENTED: ${origin} does not know ${pathname}`,
      hint: "the server may be of an older version than this command",
    };
  const end = response.status === 401 && token !== undefined ? endOf(token) : undefined;
  const said =
    end === undefined
      ? plain(text(body?.["message"])).replace(CODE_IN_WORDS, "")
      : `the access token expired at ${end}`;
  const more = violations.filter(({ description }) => !said.includes(plain(description)));
  const extra = more.map(({ field, description }) => `; ${plain(field)}: ${plain(description)}`).join("");
  const hint = hintFor(exitOfRpcCode(code), origin);
  return { message: `${CODES[code] ?? code}: ${said}${extra}`, ...(hint !== undefined && { hint }) };
}

/** Whether the answer is about a path that the server does not have, and so about no resource. */
function isUnknownPath({
  response,
  code,
  details,
  violations,
}: Omit<Answered, "body" | "url" | "token" | "isNamed">): boolean {
  const isUnknown =
    (code === NOT_FOUND && detail(details, "ResourceInfo") === undefined && violations.length === 0) ||
    code === UNIMPLEMENTED;
  return isUnknown && (response.status === 404 || response.status === 405 || response.status === 501);
}

function exitFor(answered: Answered): number {
  if (!answered.isNamed) return exitOfStatus(answered.response.status) || EXIT.error;
  return isUnknownPath(answered) ? EXIT.error : exitOfRpcCode(answered.code);
}

function location(response: Response): string {
  const to = response.headers.get("location");
  return to === null ? "" : ` and the address ${plain(to)}`;
}

function hintFor(exit: number, origin: string): string | undefined {
  if (exit === EXIT.notSignedIn) return `sign in with: moorage login --url ${origin}`;
  return undefined;
}

function violationsOf(details: readonly JsonObject[]): FieldViolation[] {
  const fields = detail(details, "BadRequest")?.["fieldViolations"];
  const conditions = detail(details, "PreconditionFailure")?.["violations"];
  return [
    ...(Array.isArray(fields) ? fields : [])
      .filter(isObject)
      .map((one) => ({ field: text(one["field"]), description: text(one["description"]) })),
    ...(Array.isArray(conditions) ? conditions : [])
      .filter(isObject)
      .map((one) => ({ field: text(one["type"]), description: text(one["description"]) })),
  ];
}

function retryDelayOf(response: Response, details: readonly JsonObject[]): number | undefined {
  const delay = /^(\d+(?:\.\d+)?)s$/.exec(text(detail(details, "RetryInfo")?.["retryDelay"]))?.[1];
  if (delay !== undefined) return Number(delay) * 1000;
  const after = response.headers.get("retry-after");
  return after !== null && /^\d+$/.test(after) ? Number(after) * 1000 : undefined;
}

function detail(details: readonly JsonObject[], name: string): JsonObject | undefined {
  return details.find((one) => text(one["@type"]).endsWith(`google.rpc.${name}`));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
