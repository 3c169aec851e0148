import { createHash } from "node:crypto";
import type { DescService } from "@bufbuild/protobuf";
import { Code, MoorageError } from "../../errors.ts";
import type { answerErrors } from "../answer.ts";
import type { Request, Response } from "../listen.ts";

export interface OpenApiDoorOptions {
  services: readonly DescService[];
  /** Where the platform is reached; no slash at the end. */
  baseUrl: string;
  answerError: ReturnType<typeof answerErrors>;
}

/** GET of `/openapi.json`: the document of the platform API. It needs no token: it says nothing of the installation but its URL. */
export function openApiDoor({ services, baseUrl, answerError }: OpenApiDoorOptions): (request: Request, response: Response, data: { requestId: string }) => Promise<void> {
  let made: Promise<{ text: string; etag: string }> | undefined;
  // Nobody who does not ask for it pays for it.
  const make = async () => {
    const [{ openApiDocument }, { COMMENTS }] = await Promise.all([import("./document.ts"), import("@moorage/api/gen/moorage/comments")]);
    const text = JSON.stringify(openApiDocument({ services, comments: COMMENTS, baseUrl }));
    return { text, etag: `"${createHash("sha256").update(text).digest("base64url")}"` };
  };
  return async (request, response, data) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return answerError(response, new MoorageError(Code.Unimplemented, "Unimplemented: the path does not take this method"), data, 405);
    }
    const { text, etag } = await (made ??= make());
    response.setHeader("etag", etag);
    response.setHeader("cache-control", "public, max-age=300");
    response.setHeader("access-control-allow-origin", "*");
    response.statusCode = request.headers["if-none-match"] === etag ? 304 : 200;
    if (response.statusCode === 304) {
      response.end();
      return;
    }
    response.setHeader("content-type", "application/json");
    response.setHeader("content-length", Buffer.byteLength(text));
    if (request.method === "HEAD") response.end();
    else response.end(text);
  };
}
