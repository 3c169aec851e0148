import { authenticate } from "../requests/authenticate.ts";
import { libraryError } from "../http/errors.ts";
import { pathOf } from "../requests/exchange.ts";
import type { Protocol } from "../router.ts";
import { isProjectName, normalizedName } from "./names.ts";
import { pypiPathOf } from "./paths.ts";
import { redirect, sendDistribution, sendIndex, sendProject } from "./index-page.ts";
import { upload } from "./publish.ts";

/**
 * The index of Python projects below `/pypi/<group path>/`: the simple repository API in HTML and JSON, and the upload
 * API. Sources: PEP 503, 592, 658, 691, 700, 714; PyPI, "upload API".
 */
export const pypiProtocol: Protocol = {
  async answer(exchange, verb) {
    const path = pypiPathOf(exchange.segments);
    const isRead = exchange.req.method === "GET" || exchange.req.method === "HEAD";
    if (path.kind === "upload" ? exchange.req.method !== "POST" : !isRead)
      throw libraryError(405, "The method is not supported here");
    verb(path.kind);
    await authenticate(exchange, path.group[0] ?? "");
    const base = pathOf(exchange, path.group.join("/"));
    switch (path.kind) {
      case "index":
        return path.slash ? await sendIndex(exchange, path) : redirect(exchange, `${base}/simple/`);
      case "project": {
        if (!isProjectName(path.project)) throw libraryError(404, `Not found: project ${path.project}`);
        const name = normalizedName(path.project);
        if (path.slash && name === path.project) return await sendProject(exchange, path);
        return redirect(exchange, `${base}/simple/${encodeURIComponent(name)}/`);
      }
      case "file":
        return await sendDistribution(exchange, path);
      case "upload":
        return await upload(exchange, path);
    }
  },
  errorBody: (message) => ({ contentType: "text/plain; charset=utf-8", text: `${message}\n` }),
};
