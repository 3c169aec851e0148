import { type FieldViolation, invalidArgument } from "@moorage/kernel/errors";
import { type BodyProblem, readBody, type Request } from "@moorage/kernel/core/http";
import { hasMoreValues } from "@moorage/kernel/lib/json";
import { MAX_MESSAGE_VALUES } from "../http/limits.ts";

/**
 * Reads a request's JSON body; undefined without a body. Without a Content-Type it is taken for JSON. Throws
 * INVALID_ARGUMENT on `body` when it is too large, has too many values, is too slow, cut short or not JSON in UTF-8,
 * and on `content-type` or `content-encoding` when those are not supported. The rest of a rejected body is dropped
 * unread; the port limits for how long. Source: docs/contract.md, "Errors"; RFC 8259.
 */
export async function readJsonBody(
  request: Request,
  limits: { maxBytes: number; timeoutMs: number },
): Promise<unknown> {
  const bytes = await readBody(request, limits, (problem) =>
    invalidArgument({ field: "body", description: DESCRIPTIONS[problem](limits.maxBytes) }),
  );
  if (bytes.length === 0) return undefined;
  const violation = kindViolation(request);
  if (violation) throw invalidArgument(violation);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidArgument({ field: "body", description: "must be valid UTF-8" });
  }
  if (hasMoreValues(text, MAX_MESSAGE_VALUES))
    throw invalidArgument({ field: "body", description: `must have at most ${MAX_MESSAGE_VALUES} values` });
  try {
    return JSON.parse(text);
  } catch {
    throw invalidArgument({ field: "body", description: "must be valid JSON" });
  }
}

const DESCRIPTIONS: Record<BodyProblem, (maxBytes: number) => string> = {
  "too large": (maxBytes) => `must be at most ${maxBytes} bytes`,
  "too slow": () => "did not arrive in time",
  "cut short": () => "was cut short",
};

function kindViolation(request: Request): FieldViolation | undefined {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return { field: "content-encoding", description: "must be absent: compressed bodies are not read" };
  }
  const header = request.headers["content-type"];
  if (header === undefined || header.trim() === "") return undefined;
  const [type = "", ...parameters] = header
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  if (type !== "application/json" && !(type.startsWith("application/") && type.endsWith("+json"))) {
    return { field: "content-type", description: "must be application/json" };
  }
  const charset = parameters
    .find((parameter) => parameter.startsWith("charset="))
    ?.slice("charset=".length)
    .replaceAll('"', "");
  return charset === undefined || charset === "utf-8" || charset === "utf8"
    ? undefined
    : { field: "content-type", description: "must have the charset utf-8" };
}
