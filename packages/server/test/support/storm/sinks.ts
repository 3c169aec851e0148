// The receivers of a storm, in a child process: healthy, slow, flapping and malicious ones, distinguished by the first
// segment of the path. Each request is recorded as a line of JSON (records.ts) in the file that the first argument
// names. The second argument is the seed.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { diceOf } from "../dice.ts";
import { MALICE } from "./malice.ts";
import type { Got, Said, Instruction, Trust } from "./records.ts";

const ATTRIBUTES = ["specversion", "id", "source", "type", "subject", "time", "group", "audience", "actor", "sequence"];
const VERIFY_FIRST = 20;
const VERIFY_EVERY = 40;
const SLOW_MS = { least: 20, more: 60 };
const WORKING_MS = { least: 1_000, more: 2_000 };
const FAILING_MS = { least: 300, more: 600 };

const [, , path = "", seed = "0"] = process.argv;
const file = createWriteStream(path);
const dice = diceOf(Number(seed), 401);
const received: Record<string, number> = {};
let trust:
  | { issuer: string; keys: ReturnType<typeof createLocalJWKSet>; by: Map<string, Trust & { webhook: Webhook }> }
  | undefined;

const say = (said: Said): void => void process.send?.(said);

// The flapping receiver alternates between working and failing.
let failing = false;
const flap = (): void => {
  failing = !failing;
  const { least, more } = failing ? FAILING_MS : WORKING_MS;
  setTimeout(flap, least + dice.below(more)).unref();
};
flap();

const server = createServer({ maxHeaderSize: 65_536 }, (req, res) => {
  const at = (req.url ?? "").slice(1);
  if (req.method === "OPTIONS")
    return void res.writeHead(204, { "webhook-allowed-origin": "*", "webhook-allowed-rate": "*" }).end();
  const got = noteHeaders(at, req.headers);
  let over = false;
  const end = (): void => {
    if (over) return;
    over = true;
    file.write(`${JSON.stringify({ ...got, toMs: performance.now() })}\n`);
  };
  res.once("finish", end).once("close", end);
  req.on("error", () => {});
  receive(at, got, req, res).catch((error: unknown) => {
    // An incomplete request is no fault: its sender may have been killed.
    if (req.complete) got.proof = String(error);
    res.destroy();
  });
});

async function receive(at: string, got: Got, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [receiver, behavior = ""] = at.split("/");
  if (receiver === "flapping" && failing && dice.chance(0.2)) return void res.destroy();
  const content = await buffer(req);
  noteBody(got, req.headers, content);
  got.proof = await verifyProofs(at, req.headers, content);
  const reply = (status: number, headers: Record<string, string> = {}): void => {
    got.status = status;
    res.writeHead(status, headers).end();
  };
  switch (receiver) {
    case "healthy":
      return reply(204);
    case "slow":
      return void setTimeout(() => reply(200), SLOW_MS.least + dice.below(SLOW_MS.more));
    case "flapping": {
      // In some cases the connection closes after the event was accepted.
      if (!failing) return dice.chance(0.02) ? void res.destroy() : reply(202);
      const failure = dice.below(5);
      if (failure === 0) return void res.destroy();
      return reply(dice.pick([500, 502, 503, 429]), failure === 1 ? { "retry-after": "1" } : {});
    }
    default:
      got.status = MALICE[behavior]?.(req, res, dice) ?? (reply(200), 200);
  }
}

function noteHeaders(at: string, headers: IncomingHttpHeaders): Got {
  const attribute = (name: string): string => String(headers[`ce-${name}`] ?? "");
  return {
    at,
    id: attribute("id"),
    type: attribute("type"),
    subject: attribute("subject"),
    group: attribute("group"),
    sequence: Number(attribute("sequence")),
    hash: "",
    digest: "",
    tag: "",
    fromMs: performance.now(),
    toMs: 0,
    status: 0,
  };
}

function noteBody(got: Got, headers: IncomingHttpHeaders, content: Buffer): void {
  const hash = createHash("sha256")
    .update(JSON.stringify([headers["content-type"], ...ATTRIBUTES.map((name) => headers[`ce-${name}`])]))
    .update(content);
  got.hash = hash.digest("base64url");
  const { body } = JSON.parse(content.toString()) as { body: { digest?: string; name?: string; tag?: string } };
  got.digest = body.digest ?? "";
  got.tag = body.tag ?? body.name ?? "";
}

/** Verifies token and signature of a sample of the requests. Returns `valid`, the error, or empty for the others. */
async function verifyProofs(at: string, headers: IncomingHttpHeaders, content: Buffer): Promise<string> {
  const count = (received[at] ?? 0) + 1;
  received[at] = count;
  const known = trust?.by.get(at);
  if (trust === undefined || known === undefined || (count > VERIFY_FIRST && count % VERIFY_EVERY !== 0)) return "";
  try {
    const token = String(headers.authorization).replace(/^Bearer /, "");
    const rules = {
      issuer: trust.issuer,
      audience: "customer",
      subject: `webhook:${known.group}`,
      requiredClaims: ["exp", "jti"],
    };
    const { payload } = await jwtVerify<{ webhook?: { digest?: string } }>(token, trust.keys, rules);
    if (payload.webhook?.digest !== `sha256:${createHash("sha256").update(content).digest("hex")}`)
      return "the token is for another body";
    if (headers["webhook-id"] !== headers["ce-id"]) return "the signature is for another event";
    known.webhook.verify(content, headers as Record<string, string>);
    return "valid";
  } catch (error) {
    return String(error);
  }
}

process.on("message", (instruction: Instruction) => {
  if (instruction.kind === "flush") return void file.write("", () => say({ say: "flushed" }));
  const by = Object.entries(instruction.by).map(
    ([at, each]) => [at, { ...each, webhook: new Webhook(each.secret) }] as const,
  );
  trust = { issuer: instruction.issuer, keys: createLocalJWKSet(instruction.keys as JSONWebKeySet), by: new Map(by) };
});
process.on("disconnect", () => process.exit(0));
server.listen(0, "127.0.0.1", () => say({ say: "listening", port: (server.address() as AddressInfo).port }));
