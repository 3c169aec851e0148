import type { KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type JWK, SignJWT } from "jose";
import { nextRsaKeys } from "./rsa-keys.ts";
import { listenAnew } from "./unused-port.ts";

/** An OpenID issuer over HTTP on loopback, each of whose answers a test can change. */
export interface Issuer {
  url: string;
  key: IssuerKey;
  /** The published key set; tests may change it. */
  jwks: { keys: JWK[] };
  /** Answers that replace the usual ones, by path with or without a query. */
  routes: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** The requested paths, in order. */
  requests: string[];
  sign(
    claims: Record<string, unknown>,
    header?: Record<string, unknown>,
    key?: KeyObject | Uint8Array,
  ): Promise<string>;
  close(): Promise<void>;
}

export interface IssuerKey {
  kid: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: JWK;
}

export function newKey(kid: string): IssuerKey {
  const { privateKey, publicKey } = nextRsaKeys();
  return {
    kid,
    privateKey,
    publicKey,
    jwk: { ...(publicKey.export({ format: "jwk" }) as JWK), kid, use: "sig", alg: "RS256" },
  };
}

export async function openIssuer(): Promise<Issuer> {
  const key = newKey("one");
  const jwks = { keys: [key.jwk] };
  const routes: Issuer["routes"] = new Map();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    requests.push(path);
    const route = routes.get(path) ?? routes.get(path.split("?", 1)[0] ?? "");
    if (route) return route(request, response);
    const document =
      path === "/.well-known/openid-configuration"
        ? { issuer: url, jwks_uri: `${url}/jwks` }
        : path === "/jwks"
          ? jwks
          : undefined;
    if (document) response.setHeader("content-type", "application/json").end(JSON.stringify(document));
    else response.writeHead(404).end();
  });
  const url = `http://127.0.0.1:${await listenAnew(server)}`;
  return {
    url,
    key,
    jwks,
    routes,
    requests,
    sign: (claims, header = {}, signer = key.privateKey) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: key.kid, ...header }).sign(signer),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
