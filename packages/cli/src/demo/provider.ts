// A real OpenID provider (oidc-provider) on loopback, as a separate program: for the demo and for trying token exchange
// by hand.
//
//   node packages/cli/src/demo/provider.ts 9400
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

const TOKEN_TTL_SECONDS = 300;
const ROBOT = {
  client_id: "robot",
  client_secret: "robot-secret",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
};

const server = createServer();
server.listen(Number(process.argv[2] ?? "9400"), "127.0.0.1");
await once(server, "listening");
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const signingKey = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
const provider = new Provider(issuer, {
  clients: [ROBOT],
  jwks: { keys: [{ ...signingKey, use: "sig", alg: "RS256" }] },
  ttl: { ClientCredentials: TOKEN_TTL_SECONDS },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      // The robot requests an audience as `resource`, and gets a JWT for it whose subject is the robot.
      getResourceServerInfo: (_context, resource) => ({
        audience: resource,
        scope: "",
        accessTokenTTL: TOKEN_TTL_SECONDS,
        accessTokenFormat: "jwt",
      }),
    },
  },
});
server.on("request", provider.callback());
console.log(`an OpenID provider is listening at ${issuer}`);
