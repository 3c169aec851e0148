import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { exportJWK } from "jose";
import { Provider } from "oidc-provider";
import { nextRsaKeys } from "./rsa-keys.ts";
import { listenAnew } from "./unused-port.ts";

/** A real OpenID provider (oidc-provider) on loopback whose tokens are JWTs signed with RS256. */
export interface RealProvider {
  url: string;
  token(): Promise<string>;
  close(): Promise<void>;
}

/**
 * Starts the provider with one client, the subject, which gets access tokens for the audience by its secret; they
 * contain `claims` beside the usual ones.
 */
export async function openProvider(
  audience: string,
  subject = "ci",
  claims: Record<string, unknown> = {},
): Promise<RealProvider> {
  const { privateKey } = nextRsaKeys();
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => handle(request, response));
  const url = `http://127.0.0.1:${await listenAnew(server)}`;
  const oidc = new Provider(url, {
    clients: [
      {
        client_id: subject,
        client_secret: "secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "provider", use: "sig", alg: "RS256" }] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: () => ({
          scope: "",
          audience,
          accessTokenFormat: "jwt",
          accessTokenTTL: 86_400,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: () => claims,
  });
  handle = oidc.callback();
  return {
    url,
    async token() {
      const headers = {
        authorization: `Basic ${Buffer.from(`${encodeURIComponent(subject)}:secret`).toString("base64")}`,
      };
      const body = new URLSearchParams({ grant_type: "client_credentials", resource: audience });
      const response = await fetch(`${url}/token`, { method: "POST", headers, body });
      const { access_token: token } = (await response.json()) as { access_token: string };
      return token;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
