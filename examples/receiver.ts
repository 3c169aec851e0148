// Receives events and verifies each. docs/events.md says how to run it: ISSUER is the installation's URL, GROUP the uid
// of the subscription's group, SECRET the secret that the subscription was created with, PORT the port to listen on.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";

const { ISSUER = "http://127.0.0.1:8080", GROUP = "", SECRET = "", PORT = "8090" } = process.env;
const discovery = await fetch(`${ISSUER}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(5_000) });
const keys = createRemoteJWKSet(new URL(((await discovery.json()) as { jwks_uri: string }).jwks_uri));
const webhook = new Webhook(SECRET);
const seen = new Set<string>();

/**
 * The verified event of the request. Throws for a request that the installation did not make for this group within the
 * last minutes.
 */
async function verify({ headers }: IncomingMessage, content: AsyncIterable<string>): Promise<object> {
  let text = "";
  for await (const part of content) if ((text += part).length > 1_048_576) throw new Error("too long");
  const token = (headers.authorization ?? "").replace(/^Bearer /, "");
  const rules = { issuer: ISSUER, audience: "customer", subject: `webhook:${GROUP}`, requiredClaims: ["exp"] };
  const { payload } = await jwtVerify<{ webhook?: { digest?: string } }>(token, keys, rules);
  if (payload.webhook?.digest !== `sha256:${createHash("sha256").update(text).digest("hex")}`)
    throw new Error("the token is for another body");
  if (headers["webhook-id"] !== headers["ce-id"]) throw new Error("the signature is for another event");
  return (webhook.verify(text, headers as Record<string, string>) as { body: object }).body;
}

const server = createServer(async (req, res) => {
  // Before the first event, the installation asks whether it may send.
  if (req.method === "OPTIONS")
    return void res.writeHead(204, { "webhook-allowed-origin": "*", "webhook-allowed-rate": "*" }).end();
  try {
    const body = await verify(req, req.setEncoding("utf8"));
    const id = String(req.headers["ce-id"]);
    // The same event may come again. If that matters, store the ids together with the results of processing the events,
    // for as long as deliveries are retried.
    if (!seen.has(id)) console.log(req.headers["ce-type"], req.headers["ce-subject"], JSON.stringify(body));
    seen.add(id);
    res.writeHead(204).end();
  } catch (error) {
    console.error("refused:", error instanceof Error ? error.message : error);
    res.writeHead(400).end();
  }
});
server.listen(Number(PORT), "127.0.0.1", () => console.log("waiting for events on", server.address()));
