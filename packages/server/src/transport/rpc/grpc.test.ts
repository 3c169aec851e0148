import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { after, before, beforeEach, test } from "node:test";
import { brotliCompressSync, gunzipSync, gzipSync } from "node:zlib";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import { GetGroupRequestSchema, GroupSchema, GroupsService } from "@moorage/api";
import { ErrorInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { StatusSchema } from "@moorage/api/gen/google/rpc/status_pb";
import { notFound, unauthenticated } from "@moorage/kernel/errors";
import { clockOf } from "@moorage/kernel/lib/clock";
import { pino } from "pino";
import { enveloped } from "./grpc-body.ts";
import { percentEncoded } from "./grpc-status.ts";
import { listen } from "../http/listen.ts";
import type { Listening } from "../http/listen.ts";
import { createPipeline } from "../../runtime/pipeline.ts";
import { rpcHandler } from "./handler.ts";

// Tests gRPC over HTTP/2 against its specification with bare streams, including what correct clients never send.
const LIMIT = { timeout: 300_000 };
const MAX_BYTES = 200_000;
const PATH = "/moorage.iam.v2.GroupsService/GetGroup";
const log = pino({ level: "silent" });

let port: Listening;
let session: ClientHttp2Session;
/** The uids that dispatch was called with. */
let dispatched: string[] = [];
/** Called when dispatch is called with "hung". */
let hung: () => void = () => undefined;

before(async () => {
  const rpc = rpcHandler({
    services: [GroupsService],
    aliases: [],
    errorDomain: "moorage.dev",
    log,
    shutdown: new AbortController().signal,
    maxMessageBytes: MAX_BYTES,
    pipeline: createPipeline({
      clock: clockOf(() => 42),
      async authenticate(authorization) {
        // Takes as long as a database in another process: chunks that arrive meanwhile must not be lost.
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
        if (authorization !== "Bearer good") throw unauthenticated("a token is needed");
        return { identity: "me" };
      },
      dispatch: {
        async answer(_method, _data, message) {
          const { uid } = message as Message & { uid: string };
          dispatched.push(uid);
          if (uid === "hung") return new Promise(() => hung());
          if (uid.startsWith("missing")) throw notFound("moorage.iam.v2.Group", uid);
          return create(GroupSchema, { uid, description: uid === "long" ? "x".repeat(5000) : "" });
        },
        stream: () => assert.fail("no method here streams"),
      },
    }),
  });
  port = await listen({
    host: "127.0.0.1",
    port: 0,
    errorDomain: "moorage.dev",
    log,
    takeStream(stream, headers) {
      const answer = rpc.unary(headers);
      void answer?.(stream, headers, { requestId: "r1", remoteAddress: "192.0.2.1" });
      return answer !== undefined;
    },
    handler: (request, response) => rpc.handle(request, response, { requestId: "r1", remoteAddress: "192.0.2.1" }),
  });
  session = connect(`http://127.0.0.1:${port.port}`);
});

beforeEach(() => {
  dispatched = [];
});

after(async () => {
  session.destroy();
  await port.close(0);
});

interface Answer {
  headers: IncomingHttpHeaders;
  status: string | undefined;
  data: Buffer;
  trailers: IncomingHttpHeaders | undefined;
}

function begin(headers: OutgoingHttpHeaders = {}, on = session): ClientHttp2Stream {
  return on.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: "Bearer good",
    ...headers,
  });
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const chunks: Buffer[] = [];
  let trailers: IncomingHttpHeaders | undefined;
  stream.on("trailers", (found: IncomingHttpHeaders) => {
    trailers = found;
  });
  stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
  if (!stream.readableEnded) await once(stream, "end");
  return { headers, data: Buffer.concat(chunks), trailers, status: String((trailers ?? headers)["grpc-status"]) };
}

/** Sends the chunks, each in a frame of its own, and the end. */
function call(chunks: Buffer[], headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  const stream = begin(headers);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  return answerOf(stream);
}

const request = (uid: string): Uint8Array => toBinary(GetGroupRequestSchema, create(GetGroupRequestSchema, { uid }));
const asked = (uid: string): Buffer => enveloped(request(uid), false);
const groupIn = ({ data }: Answer) => fromBinary(GroupSchema, data.subarray(5));
function reasonsIn({ headers }: Answer): string[] {
  const bytes = Buffer.from(String(headers["grpc-status-details-bin"]), "base64");
  return fromBinary(StatusSchema, bytes)
    .details.filter(({ typeUrl }) => typeUrl.endsWith("ErrorInfo"))
    .map(({ value }) => fromBinary(ErrorInfoSchema, value).reason);
}

test("a call is answered with headers, one message and trailers", LIMIT, async () => {
  const answer = await call([asked("a")]);
  assert.deepEqual(
    [answer.headers[":status"], answer.headers["content-type"], answer.headers["x-request-id"]],
    [200, "application/grpc+proto", "r1"],
  );
  assert.equal(answer.headers["grpc-status"], undefined);
  assert.equal(answer.trailers?.["grpc-status"], "0");
  assert.deepEqual([answer.data.readUInt8(0), answer.data.readUInt32BE(1)], [0, answer.data.length - 5]);
  assert.equal(groupIn(answer).uid, "a");
});

test("a message may arrive in any chunks", LIMIT, async () => {
  const bytes = asked("in pieces");
  for (const size of [1, 3, 5, 6, bytes.length - 1]) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    assert.equal(groupIn(await call(chunks)).uid, "in pieces", `chunks of ${size}`);
  }
  const long = "y".repeat(150_000);
  assert.equal(groupIn(await call([asked(long)])).uid, long);
});

test("a body that is not exactly one message is rejected, and the method is not called", LIMIT, async () => {
  const flagged = asked("a");
  flagged.writeUInt8(2, 0);
  const tooLong = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]);
  const cases: [string, Buffer[], string][] = [
    ["none", [], "12"],
    ["two", [asked("a"), asked("b")], "12"],
    ["two in one frame", [Buffer.concat([asked("a"), asked("b")])], "12"],
    ["one and a byte", [asked("a"), Buffer.of(0)], "12"],
    ["half a prefix", [asked("a").subarray(0, 3)], "3"],
    ["half a message", [asked("a").subarray(0, 6)], "3"],
    ["unknown flags", [flagged], "3"],
    ["no protobuf", [enveloped(Buffer.of(0xff, 0xff), false)], "3"],
    ["too long", [enveloped(Buffer.alloc(MAX_BYTES + 1), false)], "8"],
    ["too long by its own word", [tooLong], "8"],
  ];
  for (const [title, chunks, status] of cases) {
    const answer = await call(chunks);
    assert.equal(answer.status, status, title);
    assert.deepEqual([answer.trailers, reasonsIn(answer).length], [undefined, 1], title);
  }
  assert.deepEqual(dispatched, []);
});

test(
  "a message with too large a length is rejected before it arrives, and so is a large one without a valid token",
  LIMIT,
  async () => {
    const tooLong = begin();
    tooLong.write(Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]));
    assert.equal((await answerOf(tooLong)).status, "8");
    const nobodys = begin({ authorization: "Bearer bad" });
    nobodys.write(Buffer.concat([Buffer.from([0, 0, 2, 0, 0]), Buffer.alloc(10)]));
    const answer = await answerOf(nobodys);
    assert.deepEqual([answer.status, answer.headers["www-authenticate"]], ["16", "Bearer"]);
    for (const stream of [tooLong, nobodys]) stream.close();
    assert.equal((await call([asked("after")])).status, "0");
  },
);

test("the caller is authenticated before faults of the message are reported", LIMIT, async () => {
  for (const chunks of [
    [],
    [asked("a")],
    [enveloped(Buffer.of(0xff, 0xff), false)],
    [enveloped(Buffer.alloc(MAX_BYTES + 1), false)],
  ]) {
    assert.equal((await call(chunks, { authorization: "Bearer bad", "grpc-encoding": "unheard-of" })).status, "16");
  }
});

test("messages may be compressed, and are answered with the same compression", LIMIT, async () => {
  for (const [name, compress] of [
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ] as const) {
    const answer = await call([enveloped(compress(request("a")), true)], { "grpc-encoding": name });
    assert.deepEqual([groupIn(answer).uid, answer.headers["grpc-encoding"], answer.data[0]], ["a", undefined, 0], name);
  }
  const long = [enveloped(gzipSync(request("long")), true)];
  const answer = await call(long, { "grpc-encoding": "gzip", "grpc-accept-encoding": "identity, gzip" });
  assert.deepEqual([answer.headers["grpc-encoding"], answer.data[0]], ["gzip", 1]);
  assert.equal(fromBinary(GroupSchema, gunzipSync(answer.data.subarray(5))).description.length, 5000);
  assert.equal(
    (await call(long, { "grpc-encoding": "gzip", "grpc-accept-encoding": "identity" })).headers["grpc-encoding"],
    undefined,
  );
  assert.equal((await call([asked("long")], { "grpc-accept-encoding": "gzip" })).headers["grpc-encoding"], undefined);
  assert.equal(groupIn(await call([asked("plain")], { "grpc-encoding": "gzip" })).uid, "plain");
  assert.equal((await call([enveloped(Buffer.alloc(0), true)], { "grpc-encoding": "gzip" })).status, "0");
});

test("a call that ends without a message is answered when all of it arrives with its connection", LIMIT, async (t) => {
  const fresh = connect(`http://127.0.0.1:${port.port}`);
  t.after(() => fresh.destroy());
  // Asked for before the connection is made, so that everything is in its first packet.
  const stream = begin({}, fresh);
  stream.end(Buffer.alloc(0));
  assert.equal((await answerOf(stream)).status, "12");
});

test("wrong compression is rejected", LIMIT, async () => {
  const unknown = await call([asked("a")], { "grpc-encoding": "snappy" });
  assert.deepEqual([unknown.status, unknown.headers["grpc-accept-encoding"]], ["12", "identity,gzip,br"]);
  const unsaid = await call([enveloped(gzipSync(request("a")), true)]);
  assert.equal(unsaid.status, "13");
  assert.match(String(unsaid.headers["grpc-message"]), /without grpc-encoding/);
  assert.equal((await call([enveloped(Buffer.from("not gzip"), true)], { "grpc-encoding": "gzip" })).status, "3");
  assert.equal(
    (await call([enveloped(gzipSync(Buffer.alloc(MAX_BYTES + 1)), true)], { "grpc-encoding": "gzip" })).status,
    "8",
  );
  assert.deepEqual(dispatched, []);
});

test("a deadline ends the answer, before or after the body", LIMIT, async () => {
  for (const timeout of ["20m", "20000u", "1n"]) {
    const answer = await call([asked("hung")], { "grpc-timeout": timeout });
    assert.deepEqual([answer.status, reasonsIn(answer)], ["4", ["DEADLINE_EXCEEDED"]], timeout);
  }
  const silent = begin({ "grpc-timeout": "20m" });
  assert.equal((await answerOf(silent)).status, "4");
  silent.close();
  assert.equal((await call([asked("a")], { "grpc-timeout": "1H" })).status, "0");
  for (const timeout of ["", "1", "S", "-1S", "1.5S", "123456789S", "1s", "99999999H", "1S, 1S"]) {
    assert.equal((await call([asked("a")], { "grpc-timeout": timeout })).status, "3", timeout);
  }
});

test(
  "a call is not served when its client disconnects before its end, and not answered when it disconnects later",
  LIMIT,
  async () => {
    const early = begin();
    early.on("error", () => undefined);
    early.write(asked("never"));
    await new Promise((resolve) => void session.ping(resolve));
    early.close(8);
    await once(early, "close");
    const late = begin();
    late.on("error", () => undefined);
    const working = new Promise<void>((resolve) => {
      hung = resolve;
    });
    late.end(asked("hung"));
    await working;
    late.close(8);
    await once(late, "close");
    assert.equal((await call([asked("after")])).status, "0");
    assert.deepEqual(dispatched, ["hung", "after"]);
  },
);

test("an error's message is escaped, and truncated when it is too long for headers", LIMIT, async () => {
  const answer = await call([asked("missing ü 50%\n")]);
  assert.deepEqual([answer.status, answer.headers["grpc-message"]], ["5", "Group not found: missing %C3%BC 50%25%0A"]);
  assert.equal(decodeURIComponent(percentEncoded("ü 50% \u{1f600} ~")), "ü 50% \u{1f600} ~");
  const long = await call([asked(`missing ${"z".repeat(100_000)}`)]);
  assert.deepEqual([long.status, String(long.headers["grpc-message"]).length], ["5", 4096]);
});

test("requests that are not plain binary gRPC go to the adapter", LIMIT, async () => {
  const json = await call([enveloped(Buffer.from('{"uid":"json"}'), false)], {
    "content-type": "application/grpc+json",
  });
  assert.match(json.data.toString(), /"json"/);
  assert.equal(groupIn(await call([asked("a")], { ":path": `${PATH}?x=1` })).uid, "a");
  assert.equal(groupIn(await call([asked("a")], { "content-type": "application/grpc+proto" })).uid, "a");
  assert.equal((await call([asked("a")], { ":path": "/moorage.iam.v2.GroupsService/Nothing" })).status, "12");
});
