import { type FieldViolation, invalidArgument } from "../../errors.ts";
import type { Request } from "../http/listen.ts";

export interface BodyLimits {
  maxBodyBytes: number;
  /** How long the whole body may take to arrive. */
  bodyTimeoutMs: number;
}

/**
 * Reads a request's JSON body; undefined when there is none. Throws INVALID_ARGUMENT on `body` for one that is too
 * large, too slow, cut short or no JSON in UTF-8, on `content-type` and `content-encoding` for another kind. What is
 * left of a refused body is dropped unread: the port bounds how long that may go on. Source: contract §6, RFC 8259.
 */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) return undefined;
  const violation = kindViolation(request);
  if (violation) throw invalidArgument(violation);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidArgument({ field: "body", description: "must be valid UTF-8" });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidArgument({ field: "body", description: "must be valid JSON" });
  }
}

function kindViolation(request: Request): FieldViolation | undefined {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    return { field: "content-encoding", description: "must be absent: compressed bodies are not read" };
  }
  const header = request.headers["content-type"];
  if (header === undefined) return undefined;
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

function readBytes(request: Request, { maxBodyBytes, bodyTimeoutMs }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => refuse("did not arrive in time"), bodyTimeoutMs);
    const stop = (): void => {
      clearTimeout(timer);
      request.off("data", take).off("end", finish).off("aborted", cut).off("close", cut);
    };
    const refuse = (description: string): void => {
      stop();
      request.resume();
      reject(invalidArgument({ field: "body", description }));
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBodyBytes) refuse(`must be at most ${maxBodyBytes} bytes`);
    };
    const finish = (): void => {
      stop();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    const cut = (): void => refuse("was cut short");
    // Stays: a connection that breaks while a refused body is dropped must not bring down the process.
    request.on("error", cut);
    if (Number(request.headers["content-length"]) > maxBodyBytes)
      return refuse(`must be at most ${maxBodyBytes} bytes`);
    if (request.readableEnded || request.destroyed) return cut();
    request.on("data", take).once("end", finish).once("aborted", cut).once("close", cut);
  });
}
