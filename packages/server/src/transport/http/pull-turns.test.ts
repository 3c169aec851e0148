import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import { ANONYMOUS } from "@moorage/kernel/core/call";
import type { RequestHandler } from "@moorage/kernel/core/http";
import { RequestSteps } from "@moorage/kernel/core/request-steps";
import { eventually } from "../../../test/support/eventually.ts";
import { listen } from "./listen.ts";
import { createPullTurns } from "./pull-turns.ts";
import { createRouter } from "./router.ts";
import type { Handlers } from "./select-route.ts";

// Pulls over real sockets, of which one at a time is under way until the test ends it.

const log = pino({ level: "silent" });

async function start(t: TestContext) {
  const rejected: string[] = [];
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const pullTurns = createPullTurns({ rejected: (handler) => rejected.push(handler), concurrency: 1 });
  const router = createRouter({ log, addressOf: (address) => address, errorDomain: "moorage.dev", pullTurns });
  const pull: RequestHandler = async (request, response, data) => {
    const steps = new RequestSteps(data);
    // A caller's uid begins with that of its organization.
    const identity = String(request.headers.authorization);
    await steps.identify(async () => ({ ...ANONYMOUS, identity }));
    began.push(identity);
    const ended = Promise.withResolvers<void>();
    ends.push(ended.resolve);
    await ended.promise;
    response.end(identity);
  };
  const none = { matches: () => false, handle: pull };
  const distribution = { matches: (path: string) => path.startsWith("/v2/"), handle: pull };
  const handlers: Handlers = {
    rpc: { ...none, unary: () => undefined },
    distribution,
    paths: {},
    registryPaths: {},
    rest: none,
  };
  router.open(handlers);
  const port = await listen({ host: "127.0.0.1", port: 0, handler: router.handle, errorDomain: "moorage.dev", log });
  t.after(() => port.close(0));
  const send = async (identity: string, method = "GET"): Promise<IncomingMessage> => {
    const headers = { authorization: identity };
    const sent = httpRequest({ host: "127.0.0.1", port: port.port, path: "/v2/", method, headers, agent: false });
    t.after(() => sent.destroy());
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return response;
  };
  /** Ends the pull that is under way, and waits for the next one. */
  const next = async (): Promise<void> => {
    const count = began.length;
    ends.shift()?.();
    await eventually(() => began.length > count);
  };
  return { pullTurns, rejected, began, ends, send, next };
}

test("a pull of another organization waits for one of those that came before it, not for all", async (t) => {
  const { pullTurns, began, send, next } = await start(t);
  for (let at = 0; at < 30; at += 1) void send(`acme/node${at}`).catch(() => {});
  await eventually(() => began.length === 1 && pullTurns.waiting() === 29);
  for (const identity of ["other/one", "other/two"]) void send(identity).catch(() => {});
  await eventually(() => pullTurns.waiting() === 31);
  for (let at = 0; at < 4; at += 1) await next();
  assert.deepEqual(
    began.map((identity) => identity.split("/")[0]),
    ["acme", "acme", "other", "acme", "other"],
  );
  while (pullTurns.waiting() > 0) await next();
  assert.equal(began.length, 32);
});

test("what is no pull waits for no turn", async (t) => {
  const { pullTurns, rejected, began, send, next } = await start(t);
  void send("acme/one").catch(() => {});
  await eventually(() => began.length === 1);
  void send("acme/two").catch(() => {});
  await eventually(() => pullTurns.waiting() === 1);
  void send("acme/write", "PUT").catch(() => {});
  await eventually(() => began.length === 2);
  assert.deepEqual(began, ["acme/one", "acme/write"]);
  await next();
  assert.deepEqual(began, ["acme/one", "acme/write", "acme/two"]);
  assert.deepEqual(rejected, []);
});
