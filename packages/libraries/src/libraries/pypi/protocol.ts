import { libraryError } from "../http/errors.ts";
import { type LibraryExchange, pathOf } from "../requests/exchange.ts";
import type { Answer, Protocol } from "../requests/protocol.ts";
import { isProjectName, normalizedName } from "./names.ts";
import { type PypiPath, pypiPathOf } from "./paths.ts";
import { upload } from "./publish.ts";
import { redirect, sendDistribution, sendIndex, sendProject } from "./read.ts";

/**
 * The index of Python projects below `/pypi/<group path>/`: the simple repository API in HTML and JSON, and the upload
 * API. Sources: PEP 503, 592, 658, 691, 700, 714; PyPI, "upload API".
 */
export const pypiProtocol: Protocol<PypiPath> = {
  paths({ segments, req }) {
    const path = pypiPathOf(segments);
    const isRead = req.method === "GET" || req.method === "HEAD";
    if (path.kind === "upload" ? req.method !== "POST" : !isRead)
      throw libraryError(405, "The method is not supported here");
    return path;
  },
  answerTo: (exchange, path) => ({ verb: path.kind, answer: answerOf(exchange, path) }),
};

function answerOf(exchange: LibraryExchange, path: PypiPath): Answer["answer"] {
  switch (path.kind) {
    case "index":
      return () => (path.slash ? sendIndex(exchange, path) : redirect(exchange, `${baseOf(exchange, path)}/simple/`));
    case "project":
      return () => answerProject(exchange, path);
    case "file":
      return () => sendDistribution(exchange, path);
    case "upload":
      return () => upload(exchange, path);
  }
}

/** The page of a project is at its normalized name, with a slash behind it. */
async function answerProject(exchange: LibraryExchange, path: PypiPath & { kind: "project" }): Promise<void> {
  if (!isProjectName(path.project)) throw libraryError(404, `Not found: project ${path.project}`);
  const name = normalizedName(path.project);
  if (path.slash && name === path.project) return await sendProject(exchange, path);
  redirect(exchange, `${baseOf(exchange, path)}/simple/${encodeURIComponent(name)}/`);
}

function baseOf(exchange: LibraryExchange, { group }: PypiPath): string {
  return pathOf(exchange, group.join("/"));
}
