import type { Request, RequestData, Response } from "@moorage/kernel/core/http";
import { parseRange, responseSink } from "@moorage/registry/oci";
import { type OpenFile, readPart } from "./files.ts";

/** How a file is sent. */
export interface Sending {
  type: string;
  /** Undefined where the client names the file. */
  attachment?: string;
}

/** Answers GET and HEAD with the file, or with the part that a Range header asks for, and closes it. */
export async function sendFile(
  request: Request,
  response: Response,
  data: RequestData,
  { handle, size, sha256 }: OpenFile,
  { type, attachment }: Sending,
): Promise<void> {
  try {
    const etag = `"${sha256}"`;
    const { "if-none-match": known, "if-range": ifRange, range: asked } = request.headers;
    response.setHeader("etag", etag);
    response.setHeader("accept-ranges", "bytes");
    // The next version of the server has another file, and the checksum beside it must be the same file's.
    response.setHeader("cache-control", "public, no-cache");
    response.setHeader("x-content-type-options", "nosniff");
    if (known === etag) return end(response, 304);
    const range = request.method === "GET" && (ifRange === undefined || ifRange === etag) ? asked : undefined;
    const part = parseRange(range, size);
    if (part === "unsatisfiable") {
      response.setHeader("content-range", `bytes */${size}`);
      response.setHeader("content-length", 0);
      return end(response, 416);
    }
    const { start, end: last } = part === "whole" ? { start: 0, end: size - 1 } : part;
    response.setHeader("content-type", type);
    response.setHeader("content-length", last - start + 1);
    if (attachment !== undefined) response.setHeader("content-disposition", `attachment; filename="${attachment}"`);
    if (part !== "whole") response.setHeader("content-range", `bytes ${start}-${last}/${size}`);
    response.statusCode = part === "whole" ? 200 : 206;
    if (request.method === "HEAD") return void response.end();
    const sink = responseSink({ req: request, res: response, data, deps: { config: {} } });
    try {
      for await (const chunk of readPart(handle, { start, end: last })) await sink(chunk);
      response.end();
    } catch {
      // The client has left, or the file was cut short: what was sent must not look whole.
      response.destroy();
    }
  } finally {
    await handle.close();
  }
}

function end(response: Response, status: number): void {
  response.statusCode = status;
  response.end();
}
