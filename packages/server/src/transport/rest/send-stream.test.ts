import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { create } from "@bufbuild/protobuf";
import { type Tag, TagListSchema, TagSchema } from "@moorage/api/v1/registry";
import type { Request, Response } from "@moorage/kernel/core/http";
import { streamed } from "@moorage/kernel/core/streamed-answer";
import { answerStreamed } from "./send-stream.ts";

const PART = 1000;
const PARTS = 2000;
const LOG = { error: () => {} };

/** A list of two million tags, or one that fails after some parts; counts what is read of it. */
function longList({ failsAfter = Infinity, parts = PARTS } = {}) {
  const read = { parts: 0, ended: Promise.withResolvers<void>() };
  async function* made(): AsyncGenerator<readonly Tag[], void, undefined> {
    try {
      for (let at = 0; at < parts; at++) {
        if (at === failsAfter) throw new Error("the database has gone");
        read.parts += 1;
        yield Array.from({ length: PART }, (_, index) => create(TagSchema, { id: `${at}/${index}`, name: "v1" }));
      }
    } finally {
      read.ended.resolve();
    }
  }
  return { list: streamed(TagListSchema, made()), read };
}

/** A server that answers everything with the list. */
async function served(t: TestContext, list: ReturnType<typeof longList>["list"], isHttp2 = false): Promise<number> {
  const answer = (asked: Request, response: Response): void => {
    const context = { requestId: "r", headersOnly: asked.method === "HEAD" };
    void answerStreamed(response, list, context, LOG);
  };
  const server: Server = isHttp2 ? createHttp2Server(answer) : createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    if ("closeAllConnections" in server) (server as ReturnType<typeof createServer>).closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function get(port: number, method = "GET"): Promise<IncomingMessage> {
  const asked = request({ host: "127.0.0.1", port, method }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}

test("a list is one JSON object, whatever the length", async (t) => {
  const { list } = longList({ parts: 3 });
  const { items } = JSON.parse(await text(await get(await served(t, list)))) as { items: object[] };
  assert.equal(items.length, 3 * PART);
  assert.deepEqual(items.at(-1), { id: `2/${PART - 1}`, name: "v1" });
  const { list: empty } = longList({ parts: 0 });
  assert.equal(await text(await get(await served(t, empty))), "{}");
});

for (const isHttp2 of [false, true])
  test(`no more is read than a client takes, and nothing once it has left, over HTTP/${isHttp2 ? 2 : 1.1}`, async (t) => {
    const { list, read } = longList();
    const port = await served(t, list, isHttp2);
    const session = isHttp2 ? connect(`http://127.0.0.1:${port}`) : undefined;
    t.after(() => session?.destroy());
    const answer = session?.request({ ":path": "/" }) ?? (await get(port));
    answer.on("error", () => {});
    await once(answer, "readable");
    // Nothing more is taken: what the connection holds is full at some point, far from the end.
    let before = -1;
    while (read.parts !== before) {
      before = read.parts;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assert.ok(read.parts < PARTS / 2, `${read.parts} parts were read for a client that takes none`);
    answer.destroy();
    await read.ended.promise;
    assert.ok(read.parts < PARTS / 2, `${read.parts} parts were read`);
  });

test("an error after the first part cuts the answer off", async (t) => {
  const { list } = longList({ failsAfter: 500 });
  const answer = await get(await served(t, list));
  assert.equal(answer.statusCode, 200);
  await assert.rejects(text(answer), /aborted/);
});

test("HEAD reads nothing but the first part", async (t) => {
  const { list, read } = longList();
  const answer = await get(await served(t, list), "HEAD");
  assert.equal(await text(answer), "");
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(read.parts, 0);
});
