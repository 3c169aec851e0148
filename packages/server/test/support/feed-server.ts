import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** What a path answers. */
interface FeedPage {
  content?: string | Uint8Array;
  etag?: string;
  lastModified?: string;
  status?: number;
  headers?: Record<string, string>;
  /** Breaks the connection off in the middle of the body. */
  breaksOff?: boolean;
}

/** A server that publishes files, with ETags and times of change, and notes what it was asked. */
export interface FeedServer {
  url: string;
  pages: Map<string, FeedPage>;
  asked: { path: string; status: number; headers: IncomingHttpHeaders }[];
}

export async function startFeedServer(t: { after(end: () => void): void }): Promise<FeedServer> {
  const pages: FeedServer["pages"] = new Map();
  const asked: FeedServer["asked"] = [];
  const server = createServer(({ url = "", headers }, response) => {
    const page = pages.get(url) ?? { status: 404 };
    const { content = "", etag, lastModified, breaksOff = false } = page;
    const isSame =
      (etag !== undefined && headers["if-none-match"] === etag) ||
      (etag === undefined && lastModified !== undefined && headers["if-modified-since"] === lastModified);
    const status = isSame ? 304 : (page.status ?? 200);
    asked.push({ path: url, status, headers });
    response.writeHead(status, {
      ...(etag !== undefined && { etag }),
      ...(lastModified !== undefined && { "last-modified": lastModified }),
      ...page.headers,
    });
    if (!breaksOff) return void response.end(isSame ? "" : content);
    response.write(content);
    setTimeout(() => response.destroy(), 20);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pages, asked };
}
