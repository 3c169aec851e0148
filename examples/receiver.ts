// Receives events and believes none that it cannot prove. docs/events.md tells how to run it: ISSUER is the installation's URL, GROUP the uid of the
// subscription's group, SECRET what the subscription was made with, PORT where to listen on this machine.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";

const { ISSUER = "http://127.0.0.1:8080", GROUP = "", SECRET = "", PORT = "8090" } = process.env;
const discovery = await fetch(`${ISSUER}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(5_000) });
const keys = createRemoteJWKSet(new URL(((await discovery.json()) as { jwks_uri: string }).jwks_uri));
const webhook = new Webhook(SECRET);
const MAX_LENGTH = 2 ** 20;
const seen = new Set<string>();

/** The content of a request that the installation made for this group within the last minutes. Throws for any other. */
async function verify({ headers }: IncomingMessage, content: AsyncIterable<string>): Promise<{ actor: object; body: object }> {
  let text = "";
  for await (const part of content) if ((text += part).length > MAX_LENGTH) throw new Error("too long");
  const token = (headers.authorization ?? "").replace(/^Bearer /, "");
  const { payload } = await jwtVerify<{ webhook?: { digest?: string } }>(token, keys, { issuer: ISSUER, audience: "customer", subject: `webhook:${GROUP}`, requiredClaims: ["exp"] });
  if (payload.webhook?.digest !== `sha256:${createHash("sha256").update(text).digest("hex")}`) throw new Error("the token is for another body");
  if (headers["webhook-id"] !== headers["ce-id"]) throw new Error("the signature is for another event");
  return webhook.verify(text, headers as Record<string, string>) as { actor: object; body: object };
}

const server = createServer((req, res) => {
  // Before the first event the installation asks whether it may send.
  if (req.method === "OPTIONS") return void res.writeHead(204, { "webhook-allowed-origin": "*", "webhook-allowed-rate": "*" }).end();
  verify(req, req.setEncoding("utf8")).then(({ body }) => {
    const { "ce-id": id, "ce-type": type, "ce-subject": subject } = req.headers;
    // The same event may come again. Where it matters, keep the ids with what you make of the events, for as long as events are tried.
    if (!seen.has(String(id))) console.log(type, subject, JSON.stringify(body));
    seen.add(String(id));
    res.writeHead(204).end();
  }, (error: unknown) => {
    console.error("refused:", error instanceof Error ? error.message : error);
    res.writeHead(400).end();
  });
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`waiting for events on port ${(server.address() as AddressInfo).port}`));
