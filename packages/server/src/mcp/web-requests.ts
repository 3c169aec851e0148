import type { Request as HttpRequest, Response as HttpResponse } from "@moorage/kernel/core/http";

// The headers that the protocol reads.
const READ = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"];

/** The request as the SDK takes it. Its body is handed over parsed. */
export function webRequest({ headers }: HttpRequest, url: string, signal: AbortSignal): Request {
  const web = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (READ.includes(name) || name.startsWith("mcp-param-"))
      web.set(name, Array.isArray(value) ? value.join(", ") : (value ?? ""));
  return new Request(url, { method: "POST", headers: web, signal });
}

/** Sends the SDK's answer, which is one JSON body or none. */
export async function sendWeb(response: HttpResponse, answer: Response): Promise<void> {
  const body = Buffer.from(await answer.arrayBuffer());
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.setHeader("cache-control", "no-store");
  response.setHeader("content-length", body.length);
  response.end(body);
}
