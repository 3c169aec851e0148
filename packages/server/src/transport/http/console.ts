import { createHash } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Request, RequestHandler, Response } from "@moorage/kernel/core/http";
import { notFound } from "@moorage/kernel/errors";
import { accepts } from "./accepts.ts";
import { takesHtml } from "./home.ts";
import type { answerErrors } from "./send-error.ts";

/** The web console: one page for all addresses that are not the API's, and its files. */
export interface Console {
  /** Whether the request is a browser's for a page: not below a path of the API or of the registry. */
  matches(path: string, request: Request): boolean;
  /** The page. */
  handle: RequestHandler;
  /** The endpoint of `/console/*`: scripts, styles, fonts, icons. */
  files: RequestHandler;
}

interface File {
  type: string;
  etag: string;
  /** The content by its coding: `identity`, and `br` and `gzip` where the build has made them. */
  content: Map<string, Buffer>;
}

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const CODINGS = { br: ".br", gzip: ".gz" } as const;
// scripts/console.ts writes it when all others are there.
const LAST_FILE = "compressed";
const API_PATH = /^\/[a-z]+\/v[0-9]/;

// Nothing from elsewhere, and no scripts or styles in the page itself.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The console of the folder. Undefined when it has not been built: a clone builds it before `npm start`, and a packed
 * server has it beside this file (scripts/pack.ts).
 */
export function openConsole(
  answerError: ReturnType<typeof answerErrors>,
  folder = consoleFolder(),
): Console | undefined {
  if (folder === undefined) return undefined;
  let names = namesIn(folder);
  const known = new Map<string, Promise<File>>();
  let builtMs = timeOfBuild(folder);
  const fileOf = (path: string): Promise<File> | undefined => {
    // A clone may build the console again while the server runs. Until that ends, what was read is served.
    const nowMs = timeOfBuild(folder);
    if (nowMs !== undefined && nowMs !== builtMs) {
      builtMs = nowMs;
      names = namesIn(folder);
      known.clear();
    }
    if (!names.has(path) || TYPES[extname(path)] === undefined) return undefined;
    const found = known.get(path) ?? readWhole(folder, path, names);
    known.set(path, found);
    return found;
  };
  return {
    matches: (path, { method, headers }) =>
      (method === "GET" || method === "HEAD") && takesHtml(headers.accept ?? "") && !API_PATH.test(path),
    async handle(request, response) {
      const page = await fileOf("/index.html");
      if (page === undefined) throw new Error("the console has no page");
      response.setHeader("content-security-policy", POLICY);
      response.setHeader("referrer-policy", "no-referrer");
      response.setHeader("cross-origin-opener-policy", "same-origin");
      response.setHeader("cache-control", "no-cache");
      send(request, response, page, "accept, accept-encoding");
    },
    async files(request, response, data) {
      const path = new URL(request.url ?? "/", "http://localhost").pathname;
      const file = await fileOf(path);
      if (file === undefined) return answerError(response, notFound("console file", path), data);
      // The names of assets have the hash of their content.
      const isHashed = path.startsWith("/console/assets/");
      response.setHeader("cache-control", isHashed ? "public, max-age=31536000, immutable" : "public, max-age=300");
      send(request, response, file, "accept-encoding");
    },
  };
}

/** The paths of the files, from the folder on. */
function namesIn(folder: string): ReadonlySet<string> {
  return new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length).replaceAll("\\", "/")),
  );
}

/** When the build ended, in milliseconds since 1970; undefined during a build, and in a packed server. */
function timeOfBuild(folder: string): number | undefined {
  return statSync(join(folder, LAST_FILE), { throwIfNoEntry: false })?.mtimeMs;
}

function consoleFolder(): string | undefined {
  const packed = fileURLToPath(new URL("./console", import.meta.url));
  const built = fileURLToPath(new URL("../../../../console/dist", import.meta.url));
  return [packed, built].find((folder) => existsSync(join(folder, "index.html")));
}

async function readWhole(folder: string, path: string, names: ReadonlySet<string>): Promise<File> {
  const plain = await readFile(join(folder, path));
  const content = new Map([["identity", plain]]);
  for (const [coding, end] of Object.entries(CODINGS))
    if (names.has(path + end)) content.set(coding, await readFile(join(folder, path + end)));
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 27)}"`;
  return { type: TYPES[extname(path)] ?? "", etag, content };
}

function send(request: Request, response: Response, { type, etag, content }: File, vary: string): void {
  response.setHeader("etag", etag);
  response.setHeader("vary", vary);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("cross-origin-resource-policy", "same-origin");
  if (request.headers["if-none-match"] === etag) {
    response.statusCode = 304;
    return void response.end();
  }
  const accepted = String(request.headers["accept-encoding"] ?? "");
  const coding = Object.keys(CODINGS).find((one) => content.has(one) && accepts(accepted, one)) ?? "identity";
  const body = content.get(coding) ?? Buffer.alloc(0);
  if (coding !== "identity") response.setHeader("content-encoding", coding);
  response.setHeader("content-type", type);
  response.setHeader("content-length", body.length);
  response.statusCode = 200;
  if (request.method === "HEAD") response.end();
  else response.end(body);
}
