import { createHash } from "node:crypto";
import type { Response } from "@moorage/kernel/core/http";

const STYLE =
  "body{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}button{font:inherit;padding:.4rem 1rem}input{font:inherit;padding:.4rem}dt{font-weight:600}pre{white-space:pre-wrap}pre,code{overflow-wrap:anywhere}";
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** An HTML page without scripts. `body` is HTML: text from outside must have gone through `escaped`. */
export interface Page {
  status: number;
  title: string;
  body: string;
}

/** Text escaped for HTML, attributes included. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

/** A page of one paragraph. */
export function plainPage(status: number, title: string, text: string): Page {
  return { status, title, body: `<p>${escaped(text)}</p>` };
}

/**
 * Sends the page so that it is not cached, cannot be framed and sends no referrer. `formsTo`: further sources for the
 * form-action of its content security policy, such as `https:`.
 */
export function answerPage(response: Response, { status, title, body }: Page, formsTo: readonly string[] = []): void {
  const html =
    `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>${escaped(title)}</title>\n` +
    `<style>${STYLE}</style>\n<h1>${escaped(title)}</h1>\n${body}\n</html>\n`;
  response.statusCode = status;
  setPrivate(response);
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.setHeader("content-length", Buffer.byteLength(html));
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader(
    "content-security-policy",
    [
      "default-src 'none'",
      `style-src 'sha256-${STYLE_HASH}'`,
      `form-action ${["'self'", ...formsTo].join(" ")}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  );
  response.end(html);
}

/** Redirects the browser. */
export function redirect(response: Response, location: string, status: 302 | 303 = 302): void {
  response.statusCode = status;
  setPrivate(response);
  response.setHeader("location", location);
  response.setHeader("content-length", 0);
  response.end();
}

function setPrivate(response: Response): void {
  response.setHeader("cache-control", "no-store");
  response.setHeader("referrer-policy", "no-referrer");
}
