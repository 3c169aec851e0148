import type { Addresses } from "@moorage/kernel/core/addresses";
import type { Request, RequestData, RequestHandler, Response } from "@moorage/kernel/core/http";
import { answerPage } from "@moorage/platform/auth";
import { notFound } from "@moorage/kernel/errors";
import { onlyReads } from "../reads-only.ts";
import type { answerErrors } from "../send-error.ts";
import { type CommandFiles, PACKAGE } from "./files.ts";
import { packument, tarballName } from "./packument.ts";
import { commandPage } from "./page.ts";
import { sendFile } from "./send-file.ts";

/** What the endpoints work with. */
export interface CommandEndpointsOptions {
  addresses: Addresses;
  answerError: ReturnType<typeof answerErrors>;
  files: CommandFiles;
}

const PAGE = "/cli";
const PACKAGES = "/npm/-/moorage";

/**
 * The endpoints that hand the command out, by path: a page, the files with their checksums and versions, and a registry
 * of npm with nothing but its package. They need no token: whoever has none needs the command first. They reveal
 * nothing of the installation but its version.
 */
export function commandEndpoints({
  addresses,
  answerError,
  files,
}: CommandEndpointsOptions): Record<string, RequestHandler> {
  const reading =
    (
      answer: (path: string, request: Request, response: Response, data: RequestData) => Promise<boolean>,
    ): RequestHandler =>
    async (request, response, data) => {
      if (!onlyReads(request, response, data, answerError)) return;
      const [path = ""] = (request.url ?? "").split("?", 1);
      if (!(await answer(path, request, response, data))) {
        response.setHeader("cache-control", "no-store");
        answerError(response, notFound("file of the command", path), data);
      }
    };
  const page = reading(async (_path, request, response) => {
    response.setHeader("vary", "host");
    answerPage(response, await commandPage(files, addresses.platform(request)));
    return true;
  });
  return {
    [PAGE]: page,
    [`${PAGE}/*`]: reading((path, ...exchange) => answerFile(files, path.slice(PAGE.length + 1), ...exchange)),
    [`${PACKAGES}/*`]: reading(async (path, request, response, data) => {
      const name = path.slice(PACKAGES.length + 1);
      if (name === "moorage") {
        const text = await packument(files, `${addresses.platform(request)}${PACKAGES}`);
        if (text === undefined) return false;
        response.setHeader("vary", "host");
        return sendText(request, response, "application/json", text);
      }
      const isTarball = name === `-/${(await tarballName(files)) ?? ""}`;
      return isTarball && (await answerFile(files, PACKAGE, request, response, data));
    }),
  };
}

/** Answers a file, or what is said of it: `<name>.sha256` and `<name>.version`. False when there is no such file. */
async function answerFile(
  files: CommandFiles,
  asked: string,
  request: Request,
  response: Response,
  data: RequestData,
): Promise<boolean> {
  const [, name = "", about] = /^([a-z0-9-]{1,40}(?:\.tgz)?)(?:\.(sha256|version))?$/.exec(asked.slice(0, 64)) ?? [];
  const file = await files.open(name);
  if (file === undefined) return false;
  if (about === undefined) {
    await sendFile(request, response, data, file, { type: "application/octet-stream", attachment: name });
    return true;
  }
  await file.handle.close();
  // Two spaces: what `sha256sum --check` reads.
  const text = about === "sha256" ? `${file.sha256}  ${name}` : await files.version(name);
  return text !== undefined && sendText(request, response, "text/plain; charset=utf-8", `${text}\n`);
}

function sendText(request: Request, response: Response, type: string, text: string): true {
  response.setHeader("content-type", type);
  response.setHeader("content-length", Buffer.byteLength(text));
  response.setHeader("cache-control", "public, no-cache");
  response.setHeader("x-content-type-options", "nosniff");
  response.statusCode = 200;
  if (request.method === "HEAD") response.end();
  else response.end(text);
  return true;
}
