import { libraryError } from "../http/errors.ts";
import type { LibraryExchange } from "../requests/exchange.ts";
import type { Answer, Protocol } from "../requests/protocol.ts";
import { sendMetadata } from "./folder-metadata.ts";
import { type MavenPath, mavenPathOf } from "./paths.ts";
import { deploy } from "./publish.ts";
import { sendContent } from "./read.ts";
import { sendSnapshotMetadata } from "./snapshot-metadata.ts";

/** Maven repositories below `/maven/<group path>/-/`. Source: Maven, "repository layout" and "repository metadata". */
export const mavenProtocol: Protocol<MavenPath> = {
  paths({ segments, req }) {
    const path = mavenPathOf(segments);
    if (!isRead(req.method) && req.method !== "PUT") throw libraryError(405, "The method is not supported here");
    return path;
  },
  answerTo: (exchange, path) =>
    isRead(exchange.req.method)
      ? { verb: `${path.kind.replace("-", "_")}_get`, answer: answerOf(exchange, path) }
      : { verb: "put", answer: () => deploy(exchange, path) },
};

function answerOf(exchange: LibraryExchange, path: MavenPath): Answer["answer"] {
  switch (path.kind) {
    case "file":
      return () => sendContent(exchange, path);
    case "metadata":
      return () => sendMetadata(exchange, path);
    case "snapshot-metadata":
      return () => sendSnapshotMetadata(exchange, path);
  }
}

function isRead(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}
