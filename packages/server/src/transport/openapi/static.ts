import { createHash } from "node:crypto";
import type { Request, Response } from "@moorage/kernel/core/http";
import { onlyReads } from "../http/reads-only.ts";
import type { answerErrors } from "../http/send-error.ts";

/** The content that a path always answers. */
export interface Content {
  type: string;
  content: string | Buffer;
}
export type StaticEndpoint = (request: Request, response: Response, data: { requestId: string }) => Promise<void>;

export interface StaticOptions {
  answerError: ReturnType<typeof answerErrors>;
  /** Added to the headers of the content. */
  headers?: Readonly<Record<string, string>>;
}

/** GET and HEAD of content that stays the same while the server runs; it is loaded at the first request. */
export function staticEndpoint(
  read: () => Promise<Content>,
  { answerError, headers = {} }: StaticOptions,
): StaticEndpoint {
  let known: Promise<Content & { etag: string }> | undefined;
  const load = async () => {
    const found = await read();
    return { ...found, etag: `"${createHash("sha256").update(found.content).digest("base64url")}"` };
  };
  return async (request, response, data) => {
    if (!onlyReads(request, response, data, answerError)) return;
    const { type, content, etag } = await (known ??= load());
    for (const [name, value] of Object.entries({
      ...headers,
      etag,
      "cache-control": "public, max-age=300",
      "x-content-type-options": "nosniff",
    }))
      response.setHeader(name, value);
    if (request.headers["if-none-match"] === etag) {
      response.statusCode = 304;
      response.end();
      return;
    }
    response.statusCode = 200;
    response.setHeader("content-type", type);
    response.setHeader("content-length", Buffer.byteLength(content));
    if (request.method === "HEAD") response.end();
    else response.end(content);
  };
}
