import assert from "node:assert/strict";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import {
  DiffsService,
  EolTagsService,
  GroupsService,
  IdentitiesService,
  ImagesService,
  SbomsService,
  SearchService,
  StorageService,
  DownloadsService,
  PullsService,
  UsageService,
  ExposuresService,
  OperationsService,
  PingService,
  ReposService,
  RoleBindingsService,
  RolesService,
  SecurityTokenService,
  TagsService,
  VersionsService,
} from "@moorage/api";
import fc from "fast-check";
import { type Platform, reason, startPlatform } from "../support/platform.ts";
import { checkAnswer, checkStage, openStage, property, type Stage } from "../support/properties.ts";

// Arbitrary bad input against the running server: every answer is a clear error, never a 5xx, and no data is lost.
// Here: headers, tokens, bytes on the wire, gRPC.
let platform: Platform;
let stage: Stage;
let group: string;
let token: string;
before(async () => {
  platform = await startPlatform();
  stage = await openStage(platform);
  ({ group, token } = stage);
});
after(async () => {
  await checkStage(platform, stage);
  await platform.close();
});

test("arbitrary bytes on the socket never disturb other requests", async () => {
  const { hostname, port } = new URL(platform.url);
  const talk = (bytes: Uint8Array): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => socket.end(bytes));
      let answer = "";
      socket.setTimeout(60_000, () => socket.destroy());
      socket
        .on("data", (chunk) => (answer += chunk.toString("latin1")))
        .on("error", () => {})
        .on("close", () => resolve(answer));
    });
  const line = fc
    .tuple(
      fc.constantFrom("GET", "POST", "PATCH", "G\0T", "get"),
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom("HTTP/1.1\r\n", "HTTP/1.0\r\n", "HTTP/9.9\r\n", "\r\n"),
      fc.uint8Array({ maxLength: 60 }),
    )
    .map(([method, target, version, rest]) =>
      Buffer.concat([
        Buffer.from(`${method} /iam/v2/`),
        target,
        Buffer.from(` ${version}Host: x\r\n`),
        rest,
        Buffer.from("\r\n\r\n"),
      ]),
    );
  await property(
    fc.oneof(line, fc.uint8Array({ minLength: 1, maxLength: 200 })),
    async (bytes) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(await talk(bytes))?.[1];
      assert.ok(status === undefined || Number(status) < 500, `answered ${status}`);
    },
    80,
  );
});

test("arbitrary headers get a clear answer", async () => {
  const word = fc.string({
    unit: fc.constantFrom(
      ...Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)),
      " ",
      "\t",
      "\u00e9",
      "\u00ff",
    ),
    maxLength: 60,
  });
  const header = fc.tuple(
    fc.constantFrom(
      "authorization",
      "content-type",
      "content-encoding",
      "accept",
      "accept-encoding",
      "x-request-id",
      "user-agent",
      "x-forwarded-for",
      "forwarded",
      "grpc-timeout",
      "te",
      "range",
      "if-match",
      "host",
      "cookie",
      "traceparent",
      "x-http-method-override",
    ),
    word,
  );
  await property(
    fc.tuple(fc.constantFrom("GET", "POST"), fc.array(header, { minLength: 1, maxLength: 4 })),
    async ([method, pairs]) => {
      const headers = Object.fromEntries(pairs);
      const answer = await platform.call(method, method === "GET" ? "/iam/v2/roles" : `/registry/v2/repos/${group}`, {
        token,
        headers,
        ...(method === "POST" && { body: { name: "NOT A NAME" } }),
      });
      // Node refuses what is no HTTP before any handler sees it, without a body.
      if (answer.text !== "") checkAnswer(answer);
      else assert.equal(answer.status, 400);
      if (headers["authorization"] !== undefined)
        assert.ok(answer.status === 401 || answer.status === 400, answer.text);
    },
  );
});

test("damaged tokens are UNAUTHENTICATED", async () => {
  const [head = "", body = "", signature = ""] = token.split(".");
  const json = fc.jsonValue({ maxDepth: 2 }).map((each) => Buffer.from(JSON.stringify(each)).toString("base64url"));
  const wrong = fc
    .oneof(fc.tuple(json, fc.constant(body)), fc.tuple(fc.constant(head), json))
    .map(([left, right]) => `${left}.${right}.${signature}`);
  const flipped = fc
    .tuple(fc.nat(token.length - 1), fc.constantFrom(..."Aq0-_."))
    .map(([at, char]) => token.slice(0, at) + char + token.slice(at + 1))
    .filter((each) => Buffer.from(each, "base64url").compare(Buffer.from(token, "base64url")) !== 0);
  await property(
    fc.oneof(
      wrong,
      flipped,
      fc.stringMatching(/^[!-~]{1,60}$/),
      fc.constant(`${token}.`),
      fc.constant(`${head}.${body}.`),
    ),
    async (each) => {
      const answer = checkAnswer(await platform.call("GET", "/iam/v2/groups", { token: each }));
      assert.deepEqual([answer.status, reason(answer)], [401, "UNAUTHENTICATED"]);
    },
  );
});

test("gRPC messages of arbitrary bytes get a clear answer", async () => {
  const session = connectHttp2(platform.url);
  const send = (path: string, bytes: Uint8Array, encoding?: string): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer ${token}`,
        ...(encoding && { "grpc-encoding": encoding }),
      });
      stream.setTimeout(60_000, () => stream.destroy(new Error("no answer")));
      let status: string | undefined;
      stream
        .on("response", (headers) => (status = String(headers["grpc-status"] ?? headers[":status"])))
        .on("trailers", (trailers) => (status = String(trailers["grpc-status"])))
        .on("error", reject)
        .on("close", () => resolve(status))
        .resume()
        .end(bytes);
    });
  const framed = (flags: number, bytes: Uint8Array, length = bytes.length): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(length, 1);
    return Buffer.concat([head, bytes]);
  };
  const bytes = fc.uint8Array({ maxLength: 80 });
  const body = fc.oneof(
    { weight: 4, arbitrary: bytes.map((each) => framed(0, each)) },
    bytes.map((each) => framed(1, each)),
    bytes,
    fc.tuple(bytes, fc.nat(0xffffffff)).map(([each, length]) => framed(0, each, length)),
    fc.tuple(bytes, bytes).map(([one, two]) => Buffer.concat([framed(0, one), framed(0, two)])),
  );
  const methods = [
    GroupsService,
    IdentitiesService,
    RolesService,
    RoleBindingsService,
    ReposService,
    TagsService,
    ImagesService,
    SbomsService,
    SearchService,
    StorageService,
    DownloadsService,
    PullsService,
    UsageService,
    ExposuresService,
    OperationsService,
    DiffsService,
    EolTagsService,
    VersionsService,
    PingService,
    SecurityTokenService,
  ].flatMap((service) => service.methods.map((method) => `/${service.typeName}/${method.name}`));
  // Neither UNKNOWN nor INTERNAL: the fault is the caller's.
  const fine = new Set(["0", "1", "3", "5", "6", "7", "8", "9", "12", "16"]);
  try {
    await property(
      fc.tuple(
        fc.constantFrom(
          ...methods.filter((path) => !/Delete|Update/.test(path)),
          "/moorage.iam.v2.GroupsService/Nothing",
          "/x/y",
        ),
        body,
        fc.constantFrom(undefined, "gzip", "identity", "what"),
      ),
      async ([path, content, encoding]) => {
        const status = await send(path, content, encoding);
        // Except for a compressed message in a call that names no compression: gRPC's compression.md asks for INTERNAL
        // there.
        const unnamed = (encoding === undefined || encoding === "identity") && content[0] === 1;
        assert.ok(status !== undefined && (fine.has(status) || (unnamed && status === "13")), `${path}: ${status}`);
      },
      300,
    );
  } finally {
    session.destroy();
  }
});
