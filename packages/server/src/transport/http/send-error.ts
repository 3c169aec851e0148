import type { Response } from "@moorage/kernel/core/http";
import { asMoorageError, type ErrorLog } from "../status.ts";
import { answerError } from "./answer-error.ts";

/**
 * Makes a function that answers an error as AIP-193 JSON, for endpoints without transcoding. `status` replaces the HTTP
 * status of the error's code.
 */
export function answerErrors(
  errorDomain: string,
  log: ErrorLog,
): (response: Response, error: unknown, data: { requestId: string }, status?: number) => void {
  return (response, error, { requestId }, status) => {
    answerError(
      response,
      asMoorageError(error, log, requestId),
      "iam",
      errorDomain,
      { requestId, headersOnly: false },
      undefined,
      status,
    );
  };
}
