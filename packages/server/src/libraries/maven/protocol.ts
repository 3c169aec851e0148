import { authenticate } from "../requests/authenticate.ts";
import { libraryError } from "../http/errors.ts";
import type { Protocol } from "../router.ts";
import { deploy } from "./publish.ts";
import { sendMetadata } from "./offer.ts";
import { mavenPathOf } from "./paths.ts";
import { sendContent, sendSnapshotMetadata } from "./snapshot-metadata.ts";

/** Maven repositories below `/maven/<group path>/-/`. Source: Maven, "repository layout" and "repository metadata". */
export const mavenProtocol: Protocol = {
  async answer(exchange, verb) {
    const path = mavenPathOf(exchange.segments);
    const { method } = exchange.req;
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead && method !== "PUT") throw libraryError(405, "The method is not supported here");
    verb(isRead ? `${path.kind.replace("-", "_")}_get` : "put");
    await authenticate(exchange, path.group[0] ?? "");
    if (!isRead) return await deploy(exchange, path);
    if (path.kind === "file") return await sendContent(exchange, path);
    return path.kind === "metadata" ? await sendMetadata(exchange, path) : await sendSnapshotMetadata(exchange, path);
  },
  errorBody: (message) => ({ contentType: "text/plain; charset=utf-8", text: `${message}\n` }),
};
