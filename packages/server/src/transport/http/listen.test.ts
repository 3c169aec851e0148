import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as httpRequest, type RequestOptions } from "node:http";
import { type ClientHttp2Session, connect as http2Connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, test } from "node:test";
import { pino } from "pino";
import { selfSigned } from "../../../test/support/certificate.ts";
import { type ConnectionSource, listen, type Listening, type ListenOptions } from "./listen.ts";
import type { Handler } from "./http1.ts";

const log = pino({ level: "silent" });
const pair = selfSigned();
const HELLO = "GET /hello HTTP/1.1\r\nHost: test\r\n\r\n";
let running: Listening | undefined;
const clients = new Set<{ destroy(): unknown }>();

// No test waits for a time to pass; one that takes this long hangs.
const LIMIT = { timeout: 300_000 };

afterEach(async () => {
  for (const client of clients) client.destroy();
  clients.clear();
  await running?.close(0);
  running = undefined;
});

const echo: Handler = async (request, response) => {
  const body = await text(request);
  response.setHeader("x-version", request.httpVersion);
  response.end(`${request.method} ${request.url} ${body}`);
};

async function start(handler: Handler, more: Partial<ListenOptions> = {}): Promise<number> {
  running = await listen({ host: "127.0.0.1", port: 0, handler, errorDomain: "moorage.dev", log, ...more });
  return running.port;
}

function raw(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  clients.add(socket);
  return socket;
}

/** Resolves when the server has closed the connection, or its side of it. */
async function gone(socket: Socket): Promise<void> {
  await Promise.race([once(socket, "end"), once(socket, "close")]);
}

function session(url: string): ClientHttp2Session {
  const client = http2Connect(url, { ca: pair.cert });
  client.on("error", () => undefined);
  clients.add(client);
  return client;
}

async function overHttp2(
  client: ClientHttp2Session,
  path: string,
  body = "",
): Promise<{ status: number | undefined; version: unknown; body: string }> {
  const stream = client.request({ ":method": "POST", ":path": path });
  stream.end(body);
  const [headers] = await once(stream, "response");
  return { status: headers[":status"], version: headers["x-version"], body: await text(stream) };
}

async function overHttp1(
  send: typeof httpRequest | typeof httpsRequest,
  options: RequestOptions,
  body = "",
): Promise<{ status: number | undefined; version: unknown; body: string }> {
  const sent = send({ host: "127.0.0.1", method: "POST", agent: false, ...options });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, version: response.headers["x-version"], body: await text(response) };
}

test("HTTP/1.1 and HTTP/2 with prior knowledge share the port", LIMIT, async () => {
  const port = await start(echo);
  assert.deepEqual(await overHttp1(httpRequest, { port, path: "/one" }, "a"), {
    status: 200,
    version: "1.1",
    body: "POST /one a",
  });
  assert.deepEqual(await overHttp2(session(`http://127.0.0.1:${port}`), "/two", "b"), {
    status: 200,
    version: "2.0",
    body: "POST /two b",
  });
});

test("TLS with both versions shares the port with clear text", LIMIT, async () => {
  const port = await start(echo, { tls: pair });
  assert.equal(
    (await overHttp1(httpsRequest, { port, path: "/tls1", ca: pair.cert } as RequestOptions, "a")).body,
    "POST /tls1 a",
  );
  assert.deepEqual(await overHttp2(session(`https://127.0.0.1:${port}`), "/tls2", "b"), {
    status: 200,
    version: "2.0",
    body: "POST /tls2 b",
  });
  assert.equal((await overHttp1(httpRequest, { port, path: "/clear" })).body, "POST /clear ");
  assert.equal((await overHttp2(session(`http://127.0.0.1:${port}`), "/clear2")).body, "POST /clear2 ");
});

test("a TLS client of a port without TLS, and a broken handshake, are closed", LIMIT, async () => {
  const port = await start(echo);
  const clear = raw(port);
  clear.resume().write(Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]));
  await gone(clear);
  await running?.close(0);
  const secured = raw(await start(echo, { tls: pair }));
  secured.resume().write(Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]));
  await gone(secured);
  assert.equal((await overHttp1(httpRequest, { port: running?.port ?? 0, path: "/alive" })).status, 200);
});

test("the protocol is recognized when the first bytes arrive one by one", LIMIT, async () => {
  const port = await start(echo);
  const one = raw(port).setNoDelay(true);
  for (const byte of HELLO.replace("GET", "PROPFIND").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")) {
    one.write(byte);
    await new Promise(setImmediate);
  }
  assert.match(await text(one), /^HTTP\/1\.1 200 OK[^]*PROPFIND \/hello $/);

  const two = raw(port).setNoDelay(true);
  // The client preface and an empty SETTINGS frame; the server answers with its own SETTINGS (type 4).
  for (const byte of Buffer.concat([
    Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
  ])) {
    two.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  const [frame] = (await once(two, "data")) as [Buffer];
  assert.equal(frame[3], 4);
});

test("a client that sends nothing, or only a part of the preface, is cut after the time-out", LIMIT, async () => {
  const port = await start(echo, { limits: { peekTimeoutMs: 50 } });
  const silent = raw(port).resume();
  const hesitant = raw(port).resume();
  hesitant.write("PR");
  await Promise.all([gone(silent), gone(hesitant)]);
});

test("clients that disconnect immediately do not disturb others", LIMIT, async () => {
  const port = await start(echo);
  for (const words of ["", "P", "PRI * HT"]) {
    const socket = raw(port).resume();
    socket.end(words);
    await gone(socket);
  }
  const reset = raw(port);
  await once(reset, "connect");
  reset.resetAndDestroy();
  assert.equal((await overHttp1(httpRequest, { port, path: "/" })).status, 200);
});

test("pipelined requests are answered in order, also when the client has closed its side", LIMIT, async () => {
  const port = await start(async (request, response) => {
    if (request.url === "/slow") await new Promise((resolve) => setTimeout(resolve, 30));
    response.end(`<${request.url}>`);
  });
  const socket = raw(port);
  socket.end(HELLO.replace("/hello", "/slow") + HELLO);
  assert.match(await text(socket), /<\/slow>[^]*<\/hello>$/);
});

test("100 Continue is answered before the client sends the body", LIMIT, async () => {
  const port = await start(echo);
  const socket = raw(port);
  socket.write(
    "PUT /blob HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n",
  );
  const [first] = (await once(socket, "data")) as [Buffer];
  assert.equal(first.toString(), "HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("body");
  assert.match(await text(socket), /^HTTP\/1\.1 200 OK[^]*PUT \/blob body$/);

  const stream = session(`http://127.0.0.1:${port}`).request({
    ":method": "PUT",
    ":path": "/blob2",
    expect: "100-continue",
  });
  await once(stream, "continue");
  stream.end("body");
  assert.equal(await text(stream), "PUT /blob2 body");
});

test("malformed HTTP is answered 400 with an error body, and too large a head 431", LIMIT, async () => {
  const port = await start(echo);
  const bad = raw(port);
  bad.end("NONSENSE\r\n\r\n");
  const answer = await text(bad);
  assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/json\r\n/);
  const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as { code: number; details: unknown[] };
  assert.equal(body.code, 3);
  assert.deepEqual(body.details, [
    { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "INVALID_ARGUMENT", domain: "http.moorage.dev" },
  ]);
  const large = raw(port);
  large.end(`GET / HTTP/1.1\r\nHost: test\r\nX-Large: ${"x".repeat(40_000)}\r\n\r\n`);
  assert.match(await text(large), /^HTTP\/1\.1 431 /);
});

test("a handler that throws is answered 500 without the reason, and the server goes on", LIMIT, async () => {
  const port = await start(() => {
    throw new Error("secret");
  });
  const answer = await overHttp1(httpRequest, { port, path: "/" });
  assert.equal(answer.status, 500);
  assert.match(answer.body, /"code":13,"message":"Internal error"/);
  assert.doesNotMatch(answer.body, /secret/);
  assert.equal((await overHttp2(session(`http://127.0.0.1:${port}`), "/")).status, 500);
});

test(
  "a stream that takeStream takes is not given to the handler; if it throws, the stream ends and the server goes on",
  LIMIT,
  async () => {
    const port = await start(echo, {
      takeStream(stream, headers) {
        if (headers[":path"] === "/broken") throw new Error("secret");
        if (headers[":path"] !== "/taken") return false;
        stream.respond({ ":status": 203 }, { endStream: true });
        return true;
      },
    });
    const client = session(`http://127.0.0.1:${port}`);
    assert.equal((await overHttp2(client, "/taken")).status, 203);
    const broken = client.request({ ":path": "/broken" }).on("error", () => undefined);
    await once(broken, "close");
    assert.match((await overHttp2(client, "/left")).body, /\/left/);
  },
);

test(
  "close lets answers under way complete, over both versions and TLS, and accepts no new connection",
  LIMIT,
  async () => {
    let waiting = 0;
    const arrived = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const port = await start(
      async (_request, response) => {
        waiting += 1;
        if (waiting === 3) arrived.resolve();
        await release.promise;
        response.end("done");
      },
      { tls: pair },
    );
    const idle = raw(port).resume();
    const client = session(`http://127.0.0.1:${port}`);
    const goaway = once(client, "goaway");
    const answers = [
      overHttp1(httpRequest, { port, path: "/" }),
      overHttp2(client, "/"),
      overHttp1(httpsRequest, { port, ca: pair.cert } as RequestOptions),
    ];
    await arrived.promise;
    const closed = running?.close(60_000);
    await Promise.all([goaway, gone(idle)]);
    await assert.rejects(overHttp1(httpRequest, { port, path: "/" }), { code: "ECONNREFUSED" });
    release.resolve();
    assert.deepEqual(
      (await Promise.all(answers)).map((answer) => answer.body),
      ["done", "done", "done"],
    );
    await closed;
  },
);

test("close does not cut an answer that is written but not yet sent", LIMIT, async () => {
  const size = 20_000_000;
  const written = Promise.withResolvers<void>();
  const port = await start((_request, response) => {
    response.end(Buffer.alloc(size));
    written.resolve();
  });
  const socket = raw(port);
  socket.pause().write(HELLO);
  await written.promise;
  const closed = running?.close(60_000);
  assert.ok((await text(socket)).length > size);
  socket.end();
  await closed;
});

test("close cuts requests that have not ended after the grace period", LIMIT, async () => {
  const arrived = Promise.withResolvers<void>();
  const port = await start(() => arrived.resolve());
  const socket = raw(port).resume();
  socket.write(HELLO);
  await arrived.promise;
  await Promise.all([running?.close(10), gone(socket)]);
});

test("a request whose body continues after its answer is cut, over both versions", LIMIT, async () => {
  const port = await start(
    async (request, response) => {
      await once(request, "readable");
      request.read();
      response.end("no");
    },
    { limits: { lingerTimeoutMs: 20 } },
  );
  const socket = raw(port).resume();
  socket.write("POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 1000000\r\n\r\nstart");
  await gone(socket);
  const stream = session(`http://127.0.0.1:${port}`).request({ ":method": "POST", ":path": "/" });
  stream.resume().write("start");
  await once(stream, "close");
  assert.equal(stream.rstCode, 0);
});

test("a port that is in use rejects with EADDRINUSE", LIMIT, async () => {
  const port = await start(echo);
  await assert.rejects(listen({ host: "127.0.0.1", port, handler: echo, errorDomain: "moorage.dev", log }), {
    code: "EADDRINUSE",
  });
});

test(
  "a TLS handshake on a port without TLS is answered in plain HTTP, so that container clients fall back to HTTP",
  LIMIT,
  async () => {
    const port = await start(echo);
    const socket = raw(port);
    socket.write(Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0]), Buffer.alloc(512)]));
    assert.match(await text(socket), /^HTTP\/1\.1 400 /);
  },
);

/** A port that another part of the program accepts connections of, as the first process does for its workers. */
async function acceptedElsewhere(): Promise<ConnectionSource> {
  const server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  clients.add({ destroy: () => server.close() });
  const { port, address } = server.address() as AddressInfo;
  return { port, address, start: (accept) => void server.on("connection", accept) };
}

test("connections that were accepted elsewhere are served, limited and drained like its own", LIMIT, async () => {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const handler: Handler = async (request, response) => {
    if (request.url === "/wait") {
      arrived.resolve();
      await release.promise;
    }
    if (request.url === "/half") await once(request.socket, "end");
    await echo(request, response);
  };
  const limited = await start(handler, {
    source: await acceptedElsewhere(),
    limits: { headersTimeoutMs: 50, peekTimeoutMs: 60_000 },
  });
  const slow = raw(limited);
  slow.write("GET / HTTP/1.1\r\nHost:");
  assert.match(await text(slow), /^HTTP\/1\.1 408 /);
  await running?.close(0);
  await gone(raw(await start(handler, { source: await acceptedElsewhere(), limits: { peekTimeoutMs: 50 } })).resume());
  await running?.close(0);

  const port = await start(handler, { source: await acceptedElsewhere(), tls: pair });
  assert.match((await overHttp1(httpRequest, { port, path: "/one" })).body, /POST \/one/);
  assert.match((await overHttp2(session(`https://localhost:${port}`), "/two")).body, /POST \/two/);
  // The client has closed its side and still gets the answer.
  const halfClosed = raw(port);
  halfClosed.end("GET /half HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  assert.match(await text(halfClosed), /GET \/half/);

  const answer = overHttp1(httpRequest, { port, path: "/wait" });
  await arrived.promise;
  let isClosed = false;
  const closed = running?.close(60_000).then(() => {
    isClosed = true;
  });
  const late = raw(port);
  late.write(HELLO);
  assert.equal(await text(late).catch(() => ""), "");
  assert.ok(!isClosed);
  release.resolve();
  assert.match((await answer).body, /POST \/wait/);
  await closed;
});

test("answers over TLS demand TLS from then on, but those on clear text and of localhost do not", LIMIT, async () => {
  const port = await start(echo, { tls: pair });
  const hsts = async (url: string, host?: string): Promise<unknown> => {
    const stream = session(url).request({ ":method": "POST", ":path": "/", ...(host && { ":authority": host }) });
    stream.end();
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    return headers["strict-transport-security"];
  };
  const overTls1 = async (headers: Record<string, string>): Promise<unknown> => {
    const sent = httpsRequest({
      host: "127.0.0.1",
      servername: "localhost",
      port,
      ca: pair.cert,
      agent: false,
      headers,
    });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    return response.headers["strict-transport-security"];
  };
  assert.equal(await hsts(`https://127.0.0.1:${port}`, "moorage.example.com"), "max-age=31536000");
  assert.equal(await overTls1({ host: "moorage.example.com" }), "max-age=31536000");
  assert.equal(await overTls1({ host: `localhost:${port}` }), undefined);
  assert.equal(await hsts(`https://127.0.0.1:${port}`, `localhost:${port}`), undefined);
  assert.equal(await hsts(`http://127.0.0.1:${port}`, "moorage.example.com"), undefined);
});
