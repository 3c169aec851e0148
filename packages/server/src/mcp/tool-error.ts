import type { CallToolResult } from "@modelcontextprotocol/server";
import { Code, MoorageError } from "@moorage/kernel/errors";

/** What a caller can do about an error of a code. */
const WAY_ON: Readonly<Record<number, string>> = {
  [Code.InvalidArgument]: "Correct the argument and call the tool again.",
  [Code.NotFound]:
    "Look for the name with find_image. What the caller may not see is answered like what is not there: explain_access says whether it is a matter of rights.",
  [Code.AlreadyExists]: "Take another name.",
  [Code.PermissionDenied]:
    "Ask explain_access why, and have somebody who may bind roles there give the right. The token may also be narrowed.",
  [Code.ResourceExhausted]: "Wait before the next call, or ask for less.",
  [Code.FailedPrecondition]: "Change what the message names first.",
  [Code.Aborted]: "Something changed meanwhile: look again, and call the tool anew.",
  [Code.Unavailable]: "Call the tool again in a few seconds.",
  [Code.Unauthenticated]: "Sign in again.",
};

/**
 * The error of a method as the result of a tool, which the assistant sees and may act on: code and message, the
 * arguments that are wrong, and what to do. Source: MCP 2026-07-28, "Tools", error handling.
 */
export function toolError(error: unknown): CallToolResult {
  if (!(error instanceof MoorageError)) throw error;
  const { fieldViolations = [], preconditionViolations = [], metadata = {}, retryAfterMs } = error.details;
  const lines = [
    `${error.reason}: ${error.message}`,
    ...fieldViolations.map(({ field, description }) => `- ${argumentOf(field)}: ${description}`),
    ...preconditionViolations.map(({ type, subject, description }) => `- ${type} ${subject}: ${description}`),
    ...(metadata["missing"] === undefined ? [] : [`- missing: ${metadata["missing"]}`]),
    ...(retryAfterMs === undefined ? [] : [`- wait: ${Math.ceil(retryAfterMs / 1000)} s`]),
    WAY_ON[error.code] ?? "",
  ];
  return { isError: true, content: [{ type: "text", text: lines.filter((line) => line !== "").join("\n") }] };
}

/** `pageToken` as `page_token`: arguments of tools have such names. */
function argumentOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
