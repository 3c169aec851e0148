import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Content, staticEndpoint, type StaticEndpoint, type StaticOptions } from "./static.ts";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Moorage platform API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/page.js"></script>
</html>
`;
// No validator: it would send the document to a third party.
const SCRIPT = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, docExpansion: "none", defaultModelsExpandDepth: 0, validatorUrl: null });\n`;

const TYPES = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};
// Swagger UI sets styles on its elements.
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The files below `/docs`, each with a function that loads it. */
const FILES: Record<string, () => Promise<Content>> = {
  "/docs": async () => ({ type: TYPES.html, content: PAGE }),
  "/docs/": async () => ({ type: TYPES.html, content: PAGE }),
  "/docs/page.js": async () => ({ type: TYPES.js, content: SCRIPT }),
  "/docs/swagger-ui.css": async () => ({
    type: TYPES.css,
    content: await readFile(join(viewerFolder(), "swagger-ui.css")),
  }),
  "/docs/swagger-ui-bundle.js": async () => ({
    type: TYPES.js,
    content: await readFile(join(viewerFolder(), "swagger-ui-bundle.js")),
  }),
};

/**
 * The endpoints of `/docs` by path: a page to read the API's document and to try its methods, with all its files from
 * this server.
 */
export function viewerEndpoints({ answerError }: Pick<StaticOptions, "answerError">): Record<string, StaticEndpoint> {
  const headers = { "content-security-policy": POLICY, "referrer-policy": "no-referrer" };
  return Object.fromEntries(
    Object.entries(FILES).map(([path, read]) => [path, staticEndpoint(read, { answerError, headers })]),
  );
}

/**
 * A packed server has the viewer's files beside this one (scripts/pack.ts); a clone uses those of the development
 * dependency.
 */
function viewerFolder(): string {
  const packed = fileURLToPath(new URL("./viewer/", import.meta.url));
  return existsSync(packed) ? packed : dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
}
