import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { selfSigned } from "./certificate.ts";

/** A site of others on loopback with https, which this process trusts, with metadata documents of OAuth clients. */
export interface DocumentSite {
  url: string;
  /** The requests so far, by their paths. */
  asked: string[];
  /** Puts a document at the path; fields replace those of a good one, undefined removes them. Returns its URL. */
  put(path: string, fields?: Record<string, unknown>): string;
  /** What answers the path. */
  routes: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  close(): Promise<void>;
}

export const LANDING = "http://127.0.0.1:49152/callback";

export async function openDocumentSite(): Promise<DocumentSite> {
  const { cert, key } = selfSigned();
  setDefaultCACertificates([...getCACertificates("default"), cert]);
  const routes: DocumentSite["routes"] = new Map();
  const asked: string[] = [];
  const server: Server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? "/";
    asked.push(path);
    const route = routes.get(path);
    if (route === undefined) response.writeHead(404).end();
    else route(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    routes,
    put(path, fields = {}) {
      const document = {
        client_id: `${url}${path}`,
        client_name: "An assistant",
        redirect_uris: ["http://127.0.0.1/callback", "https://assistant.example/back"],
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        ...fields,
      };
      routes.set(path, (_, response) => {
        response.setHeader("content-type", "application/json").end(JSON.stringify(document));
      });
      return `${url}${path}`;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
