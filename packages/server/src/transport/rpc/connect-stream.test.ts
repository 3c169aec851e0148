import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { EventsService, WatchEventsResponseSchema } from "@moorage/api";
import { ErrorInfoSchema, RetryInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { notFound, unauthenticated } from "@moorage/kernel/errors";
import { clockOf } from "@moorage/kernel/lib/clock";
import { pino } from "pino";
import { streamed } from "./connect-stream.ts";
import { listen } from "../http/listen.ts";
import type { Listening } from "../http/listen.ts";
import { createPipeline, type PipelineDeps } from "../../runtime/pipeline.ts";
import { rpcHandler } from "./handler.ts";
import { toStatus } from "../status.ts";
import { eventually } from "../../../test/support/eventually.ts";

// Tests the RPC handler alone, with a stream that behaves as the group in its request says.

const LIMIT = { timeout: 300_000 };
const WATCH = "/moorage.events.v2.EventsService/WatchEvents";
const headers = { authorization: "Bearer good" };
const failure = notFound("moorage.iam.v2.Group", "missing");
const shutdown = new AbortController();
let port: Listening;
let transports: Record<string, Transport>;
/** What endless streams did: how many messages they made, and the errors they ended with. */
const running = { made: 0, ended: [] as unknown[] };

const dispatch: PipelineDeps["dispatch"] = {
  answer: () => assert.fail("every method here streams"),
  async *stream(_method, data, message, { signal, renew }): AsyncGenerator<Message> {
    const { group } = message as Message & { group: string };
    if (group === "missing") throw failure;
    if (group === "broken") throw new TypeError("secret");
    if (group === "renewed") yield create(WatchEventsResponseSchema, { cursor: (await renew()).caller.identity });
    for (let at = 1; at <= 3; at++) yield create(WatchEventsResponseSchema, { cursor: `${data.caller.identity}${at}` });
    if (group === "late") throw failure;
    try {
      while (group === "flood") {
        running.made += 1;
        yield create(WatchEventsResponseSchema, { cursor: "x".repeat(64 * 1024) });
      }
      while (group === "endless")
        await wait(10_000, undefined, { signal }).catch(() => {
          throw signal.reason;
        });
    } catch (error) {
      running.ended.push(error);
      throw error;
    }
  },
};

before(async () => {
  const log = pino({ level: "silent" });
  const rpc = rpcHandler({
    pipeline: createPipeline({
      dispatch,
      clock: clockOf(() => 42),
      async authenticate(authorization) {
        if (authorization !== headers.authorization) throw unauthenticated("a token is needed");
        return { identity: "me", expiresAtMs: 50 };
      },
    }),
    log,
    services: [EventsService],
    aliases: [],
    errorDomain: "moorage.dev",
    shutdown: shutdown.signal,
  });
  port = await listen({
    host: "127.0.0.1",
    port: 0,
    errorDomain: "moorage.dev",
    log,
    takeStream: (_stream, head) => rpc.unary(head) !== undefined,
    handler: (request, response) => rpc.handle(request, response, { requestId: "r1", remoteAddress: "192.0.2.1" }),
  });
  const baseUrl = `http://127.0.0.1:${port.port}`;
  transports = {
    grpc: createGrpcTransport({ baseUrl }),
    "grpc-web over HTTP/1.1": createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    "grpc-web over HTTP/2": createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
    "connect JSON over HTTP/1.1": createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
    "connect binary over HTTP/2": createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
  };
});
after(async () => {
  shutdown.abort();
  await port.close(0);
});

/** All messages of a stream and the error it ended with. */
async function all(
  transport: Transport,
  group: string,
  options: { headers?: Record<string, string>; timeoutMs?: number; signal?: AbortSignal } = { headers },
  onMessage: (count: number) => void = () => {},
): Promise<{ cursors: string[]; error?: ConnectError }> {
  const cursors: string[] = [];
  try {
    for await (const { cursor } of createClient(EventsService, transport).watchEvents({ group }, options))
      onMessage(cursors.push(cursor));
    return { cursors };
  } catch (error) {
    return { cursors, error: ConnectError.from(error) };
  }
}

const THREE = ["me1", "me2", "me3"];

test("every protocol gets the messages and the errors of REST, before and after messages", LIMIT, async () => {
  const expected = toStatus(failure, "events", "moorage.dev").details.map((detail) => [
    detail.typeUrl,
    Buffer.from(detail.value),
  ]);
  for (const [name, transport] of Object.entries(transports)) {
    assert.deepEqual(await all(transport, "some"), { cursors: THREE }, name);
    assert.deepEqual((await all(transport, "renewed")).cursors, ["me", ...THREE], name);
    for (const [group, cursors] of [
      ["missing", []],
      ["late", THREE],
    ] as const) {
      const got = await all(transport, group);
      assert.deepEqual(
        [got.cursors, got.error?.code, got.error?.rawMessage],
        [cursors, failure.code, failure.message],
        `${name}, ${group}`,
      );
      assert.deepEqual(
        got.error?.details.map((detail) =>
          "type" in detail ? [`type.googleapis.com/${detail.type}`, Buffer.from(detail.value)] : [],
        ),
        expected,
        name,
      );
    }
    const { error } = await all(transport, "broken");
    assert.deepEqual(
      [error?.code, error?.rawMessage, error?.findDetails(ErrorInfoSchema)[0]?.metadata["requestId"]],
      [Code.Internal, "Internal error", "r1"],
      name,
    );
    assert.equal((await all(transport, "some", {})).error?.code, Code.Unauthenticated, name);
  }
});

test("bytes that are not a message are answered INVALID_ARGUMENT", LIMIT, async () => {
  const sent = httpRequest({
    host: "127.0.0.1",
    port: port.port,
    path: WATCH,
    method: "POST",
    headers: { ...headers, "content-type": "application/connect+proto" },
    agent: false,
  });
  sent.end(Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x7f]));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  assert.match(await text(response), /"code":"invalid_argument"/);
});

test("a stream ends when its caller disconnects, and at its deadline", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    running.ended = [];
    const left = new AbortController();
    const leaving = all(
      transport,
      "endless",
      { headers, signal: left.signal },
      (count) => count === THREE.length && left.abort(),
    );
    assert.equal((await leaving).error?.code, Code.Canceled, name);
    await eventually(() => running.ended.length !== 0);
    assert.equal(running.ended.length, 1, name);
    // A machine that is busy may need more than the first deadline for the messages.
    for (let timeoutMs = 500, isOver = false; !isOver; timeoutMs *= 4) {
      running.ended = [];
      const { cursors, error } = await all(transport, "endless", { headers, timeoutMs });
      assert.equal(error?.code, Code.DeadlineExceeded, name);
      isOver = cursors.length === THREE.length;
    }
    await eventually(() => running.ended.length !== 0);
    assert.equal(running.ended.length, 1, name);
  }
});

test("messages that a caller does not read are not made", LIMIT, async () => {
  running.made = 0;
  const body = Buffer.from(JSON.stringify({ group: "flood" }));
  const sent = httpRequest({
    host: "127.0.0.1",
    port: port.port,
    path: WATCH,
    method: "POST",
    headers: { ...headers, "content-type": "application/connect+json" },
    agent: false,
  });
  sent.end(Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.on("error", () => {});
  let before = -1;
  for (let tries = 0; before !== running.made && tries < 50; tries++) {
    before = running.made;
    await wait(200);
  }
  // The socket buffers of both ends hold this much.
  assert.ok(before === running.made && before * 64 < 64 * 1024, `${running.made} messages were made for nobody`);
  response.resume();
  await eventually(() => running.made !== before);
  assert.ok(running.made > before, "it goes on when it is read");
  sent.destroy();
});

test("a caller that takes no message for too long is disconnected", LIMIT, async () => {
  let dropped = 0;
  const signal = new AbortController().signal;
  async function* two() {
    yield create(WatchEventsResponseSchema, { cursor: "a" });
    yield create(WatchEventsResponseSchema, { cursor: "b" });
  }
  const answers = streamed(two, {
    signal,
    shutdown: signal,
    drop: () => {
      dropped += 1;
    },
    toRejection: (error) => error,
    stallMs: 100,
  });
  await answers.next();
  await answers.next();
  assert.equal(dropped, 0);
  await eventually(() => dropped !== 0);
  assert.equal(dropped, 1);
  assert.equal((await answers.next()).done, true);
});

test("streams end with a retry delay when the server shuts down", LIMIT, async () => {
  let begun = 0;
  const open = Object.entries(transports).map(async ([name, transport]) => ({
    name,
    ...(await all(transport, "endless", { headers }, (count) => {
      if (count === THREE.length) begun += 1;
      if (begun === Object.keys(transports).length) shutdown.abort();
    })),
  }));
  for (const { name, cursors, error } of await Promise.all(open)) {
    assert.deepEqual([cursors, error?.code], [THREE, Code.Unavailable], name);
    assert.equal(error?.findDetails(RetryInfoSchema).length, 1, name);
  }
});
