import type { Request, Response } from "@moorage/kernel/core/http";
import { Code, MoorageError } from "@moorage/kernel/errors";
import type { answerErrors } from "./send-error.ts";

/** Whether the request only reads. Answers others with 405. */
export function onlyReads(
  request: Request,
  response: Response,
  data: { requestId: string },
  answerError: ReturnType<typeof answerErrors>,
): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  response.setHeader("allow", "GET, HEAD");
  const error = new MoorageError(Code.Unimplemented, "Unimplemented: the path does not take this method");
  answerError(response, error, data, 405);
  return false;
}
