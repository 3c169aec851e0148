import { answerPage, escaped, type Page } from "@moorage/platform/auth";
import type { Addresses } from "@moorage/kernel/core/addresses";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { accepts } from "./accepts.ts";

export interface HomeOptions {
  /** Under which URLs the person reaches the platform and the registry. */
  addresses: Addresses;
  /** Why the server is not ready, as `/readyz` says; undefined when it is. */
  problem(): string | undefined;
  /** Answers everything but a browser. */
  otherwise: RequestHandler;
}

const LINKS: readonly [path: string, text: string][] = [
  ["/cli", "How to get the command line, from this server"],
  ["/docs", "The platform API: read it and try it"],
  ["/openapi.json", "The same as an OpenAPI document, for tools"],
  ["/healthz", "Whether the process answers"],
  ["/readyz", "Whether it takes requests"],
];

/**
 * GET and HEAD of `/`: a page for people who open the server's address in a browser. It needs no token, so it has
 * nothing of the installation but its addresses. Programs, which do not ask for HTML, get what an unknown path answers.
 */
export function homeEndpoint({ addresses, problem, otherwise }: HomeOptions): RequestHandler {
  return async (request, response, data) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead || !takesHtml(request.headers.accept ?? "")) return otherwise(request, response, data);
    response.setHeader("vary", "accept");
    const registry = addresses.registry(request).replace(/^https?:\/\//, "");
    answerPage(response, homePage(addresses.platform(request), registry, problem()));
  };
}

function homePage(baseUrl: string, registryHost: string, problem: string | undefined): Page {
  const links = LINKS.map(([path, text]) => `<li><a href="${path}">${path}</a>: ${text}</li>`).join("\n");
  const body =
    `<p>This is Moorage, a container registry with the API that controls it.</p>\n` +
    `<p>The server is ${problem === undefined ? "ready" : `not ready: ${escaped(problem)}`}.</p>\n` +
    `<ul>\n${links}\n</ul>\n` +
    `<p>Images are named <code>${escaped(registryHost)}/organization/image:tag</code>. To sign in on the command line:</p>\n` +
    `<pre>moorage login --url ${escaped(baseUrl)}\nmoorage token --url ${escaped(baseUrl)} | docker login ${escaped(registryHost)} --username any --password-stdin</pre>`;
  return { status: 200, title: "Moorage", body };
}

/** Whether the Accept header names HTML, as those of browsers do. */
export function takesHtml(accept: string): boolean {
  return accepts(accept, "text/html");
}
