// The proxy that other tests play faults of networks with: what it does to bytes and connections.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

/** A proxy before a server that sends back what it gets. */
async function echoed(t: TestContext): Promise<{ proxy: FaultProxy; open(): Socket }> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {}).pipe(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const proxy = await startFaultProxy([(server.address() as AddressInfo).port]);
  const opened: Socket[] = [];
  t.after(async () => {
    for (const socket of opened) socket.destroy();
    await proxy.close();
    server.close();
  });
  return {
    proxy,
    open() {
      const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true });
      opened.push(socket.on("error", () => {}));
      return socket;
    },
  };
}

/** The code of the error that closes the socket; "end" when there is none. */
function closing(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let code = "end";
    socket
      .on("error", (error: NodeJS.ErrnoException) => {
        code = error.code ?? "";
      })
      .once("end", () => socket.end())
      .once("close", () => resolve(code))
      .resume();
  });
}

test("bytes pass unchanged in both directions, to their end", async (t) => {
  const { proxy, open } = await echoed(t);
  const content = randomBytes(300_000);
  const socket = open();
  socket.end(content);
  assert.ok((await buffer(socket)).equals(content));
  assert.deepEqual([proxy.toServer.bytes, proxy.toClient.bytes], [content.length, content.length]);
});

test("a bit is flipped at a place after a pattern, wherever the chunks are cut, and only that often", async (t) => {
  const { proxy, open } = await echoed(t);
  proxy.toClient.rules = [{ after: "needle", skip: 2, fault: "flip" }];
  const socket = open();
  for (const piece of ["hay nee", "dle0", "123 needle0123"]) {
    const came = proxy.toClient.more(piece.length);
    socket.write(piece);
    await came;
  }
  socket.end();
  assert.equal((await buffer(socket)).toString(), "hay needle0133 needle0123");
});

test("a connection is held back in one direction after so many bytes, and goes on later", async (t) => {
  const { proxy, open } = await echoed(t);
  const content = randomBytes(100_000);
  proxy.toClient.rules = [{ skip: 1000, fault: "stall" }];
  const socket = open();
  let received = 0;
  const half = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received >= 1000) half.resolve();
  });
  socket.end(content);
  await half.promise;
  // Another connection is not held back, so that its whole answer comes while this one waits.
  const other = open();
  other.end(content);
  assert.equal((await buffer(other)).length, content.length);
  assert.equal(received, 1000);
  proxy.toClient.resume();
  await once(socket, "end");
  assert.equal(received, content.length);
});

test("connections are cut or reset at a place, or all together, and refused until the proxy listens again", async (t) => {
  const { proxy, open } = await echoed(t);
  for (const [fault, code] of [
    ["cut", "end"],
    ["reset", "ECONNRESET"],
  ] as const) {
    proxy.toServer.rules = [{ after: "now", fault }];
    const socket = open();
    socket.write("now, please");
    assert.equal(await closing(socket), code);
  }
  const socket = open();
  socket.write("x");
  await once(socket, "data");
  proxy.reset();
  assert.equal(await closing(socket), "ECONNRESET");
  await proxy.refuse();
  assert.equal(await closing(open()), "ECONNREFUSED");
  await proxy.listen();
  const again = open();
  again.end("again");
  assert.equal((await buffer(again)).toString(), "again");
});

test("new connections are accepted and never answered, or reset; what is dropped never arrives", async (t) => {
  const { proxy, open } = await echoed(t);
  proxy.accepts = "silence";
  const silent = open();
  silent.write("hello?");
  await once(silent, "connect");
  proxy.accepts = "reset";
  assert.equal(await closing(open()), "ECONNRESET");
  proxy.accepts = "forward";
  proxy.drop(true);
  const dropped = open();
  const lost = proxy.toServer.more(4);
  dropped.write("lost");
  await lost;
  proxy.drop(false);
  dropped.end("kept");
  assert.equal((await buffer(dropped)).toString(), "kept");
  assert.equal(silent.bytesRead, 0);
});

test("bytes arrive late or slowly, complete and in order", async (t) => {
  const { proxy, open } = await echoed(t);
  const content = randomBytes(20_000);
  proxy.toServer.delayMs = 60_000;
  const late = open();
  const sent = proxy.toServer.more(content.length);
  late.write(content);
  await sent;
  proxy.toServer.delayMs = 0;
  proxy.toClient.bytesPerSecond = 200_000;
  const slow = open();
  slow.end(content);
  assert.ok((await buffer(slow)).equals(content));
  assert.equal(late.bytesRead, 0);
  proxy.toServer.delayMs = 10;
  const delayed = open();
  delayed.end(content);
  assert.ok((await buffer(delayed)).equals(content));
});
