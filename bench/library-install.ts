// The requests of an installation, once for each package: its document, then the files that the document names.
import { gunzipSync } from "node:zlib";
import { openConnection } from "./connection.ts";
import { answered, type LoadResult, measure } from "./load.ts";

export interface InstallLoad {
  port: number;
  connections: number;
  client: "npm" | "pypi";
  /** Paths of documents, each of which is asked for once. */
  documents: string[];
  /** The header lines of requests for documents, and of those for files. */
  documentHead: string;
  fileHead: string;
}

const TIMEOUT_MS = 55_000;
const HEAD_END = "\r\n\r\n";

/** Installs all packages once. A package is an answer of the result, whose time ends with the last of them. */
export async function runInstall(load: InstallLoad): Promise<LoadResult> {
  const { port, connections, client, documents, documentHead, fileHead } = load;
  const waiting = documents.values();
  let left = documents.length;
  const all = Promise.withResolvers<void>();
  return await measure(
    TIMEOUT_MS,
    (counts, fail) =>
      Array.from({ length: connections }, () => {
        let connection = openConnection(port);
        const ask = async (path: string, head: string): Promise<string> => {
          const { status, text } = await connection.exchange(
            Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${head}\r\n`, "latin1"),
            "GET",
          );
          // The server closes the connection after some responses.
          if (/^connection: *close/im.test(text.slice(0, text.indexOf(HEAD_END)))) {
            connection.socket.destroy();
            connection = openConnection(port);
          }
          if (status !== 200) throw new Error(`GET ${path}: ${text.slice(0, 600)}`);
          return text;
        };
        const run = async (): Promise<void> => {
          for (const path of waiting) {
            counts.underWay += 1;
            try {
              const paths = installPaths(client, path, bodyOf(await ask(path, documentHead)));
              for (const file of paths) await ask(file, fileHead);
            } catch (error) {
              if (connection.socket.destroyed) connection = openConnection(port);
              counts.failures += 1;
              counts.firstFailure ||= error instanceof Error ? error.message : String(error);
            }
            answered(counts);
            left -= 1;
            if (left === 0) all.resolve();
          }
        };
        run().catch(fail);
        return { destroy: () => connection.socket.destroy() };
      }),
    all.promise,
  );
}

/** The body of a response in Latin-1, as text: put together from its chunks, and unpacked. */
function bodyOf(text: string): string {
  const end = text.indexOf(HEAD_END);
  const head = text.slice(0, end).toLowerCase();
  let body = text.slice(end + HEAD_END.length);
  if (head.includes("transfer-encoding: chunked")) {
    let whole = "";
    for (let at = 0; ;) {
      const line = body.indexOf("\r\n", at);
      const length = Number.parseInt(body.slice(at, line), 16);
      if (!(length > 0)) break;
      whole += body.slice(line + 2, line + 2 + length);
      at = line + 2 + length + 2;
    }
    body = whole;
  }
  const bytes = Buffer.from(body, "latin1");
  return (head.includes("content-encoding: gzip") ? gunzipSync(bytes) : bytes).toString();
}

interface Packument {
  "dist-tags": { latest: string };
  versions: Record<string, { dist: { tarball: string } }>;
}
interface Page {
  files: { url: string; "core-metadata"?: unknown }[];
}

/**
 * The paths that a client asks for, once it has the document at this path: the tarball of the latest version; or the
 * last wheel, and before it its metadata where they are beside it.
 */
export function installPaths(client: "npm" | "pypi", document: string, text: string): string[] {
  const pathOf = (url: string): string => new URL(url, `http://127.0.0.1${document}`).pathname;
  if (client === "npm") {
    const { versions, "dist-tags": tags } = JSON.parse(text) as Packument;
    return [pathOf(versions[tags.latest]?.dist.tarball ?? "")];
  }
  const { files } = JSON.parse(text) as Page;
  // Indexes list the newest first, or last.
  const newest = files.toSorted((one, other) => versionIn(other.url) - versionIn(one.url))[0];
  if (newest === undefined) throw new Error(`${document}: no file`);
  const file = pathOf(newest.url);
  return newest["core-metadata"] ? [`${file}.metadata`, file] : [file];
}

function versionIn(url: string): number {
  return Number(/-1\.(\d+)\.0-py3/.exec(url)?.[1] ?? -1);
}
