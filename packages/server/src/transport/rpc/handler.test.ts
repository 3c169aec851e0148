import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect as http2Connect } from "node:http2";
import { once } from "node:events";
import { buffer, text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { clockOf } from "@moorage/kernel/lib/clock";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import { create, createFileRegistry, equals, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Message } from "@bufbuild/protobuf";
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import {
  GetGroupRequestSchema,
  GroupSchema,
  GroupsService,
  PingResponseSchema,
  PingService,
  RawTokenSchema,
  SecurityTokenService,
} from "@moorage/api";
import { ErrorInfoSchema } from "@moorage/api/gen/google/rpc/error_details_pb";
import { StatusSchema } from "@moorage/api/gen/google/rpc/status_pb";
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from "@moorage/api/gen/health/v1/health_pb";
import { ServerReflection } from "@moorage/api/gen/grpc/reflection/v1/reflection_pb";
import { ServerReflection as AlphaReflection } from "@moorage/api/gen/grpc/reflection/v1alpha/reflection_pb";
import { pino } from "pino";
import { ANONYMOUS } from "@moorage/kernel/core/call";
import { invalidArgument, MoorageError, notFound, unauthenticated } from "@moorage/kernel/errors";
import { listen } from "../http/listen.ts";
import type { Listening } from "../http/listen.ts";
import { createPipeline, type PipelineDeps } from "../../runtime/pipeline.ts";
import { rpcHandler } from "./handler.ts";
import { toStatus } from "../status.ts";

const LIMIT = { timeout: 300_000 };
const GET_GROUP = "/moorage.iam.v2.GroupsService/GetGroup";
const bearer = { authorization: "Bearer good" };
const failures: Record<string, MoorageError> = {
  missing: notFound("moorage.iam.v2.Group", "missing"),
  invalid: invalidArgument(
    { field: "name", description: "is required" },
    { field: "claimMatch.issuer", description: "must be a URL" },
  ),
  later: new MoorageError(14, "Unavailable: later", { retryAfterMs: 1500 }),
};
const shutdown = new AbortController();
let port: Listening;
let transports: Record<string, Transport>;

// A service with one resource, so that the RPC handler is tested alone.
const dispatch: PipelineDeps["dispatch"] = {
  async answer(method, data, message, extra): Promise<Message> {
    if (method === PingService.method.ping)
      return create(PingResponseSchema, { response: `pong${data.caller.identity}` });
    if (method === SecurityTokenService.method.exchange)
      return create(RawTokenSchema, { token: extra?.authorization ?? "" });
    const { uid } = message as Message & { uid: string };
    if (uid === "slow") return new Promise(() => undefined);
    if (uid === "broken") throw new TypeError("secret");
    if (failures[uid]) throw failures[uid];
    return create(GroupSchema, {
      uid,
      name: data.caller.identity,
      description: `${data.requestId} ${data.remoteAddress} ${data.nowMs} ${data.userAgent !== ""}`,
    });
  },
  stream: () => assert.fail("no method here streams"),
};

before(async () => {
  const rpc = rpcHandler({
    pipeline: createPipeline({
      dispatch,
      clock: clockOf(() => 42),
      async authenticate(authorization, method) {
        if (method.parent !== GroupsService) return ANONYMOUS;
        if (authorization !== "Bearer good") throw unauthenticated("a token is needed");
        return { identity: "me" };
      },
    }),
    services: [PingService, GroupsService, SecurityTokenService],
    aliases: ["acme.platform", "old"],
    errorDomain: "moorage.dev",
    log: pino({ level: "silent" }),
    shutdown: shutdown.signal,
    maxMessageBytes: 2000,
  });
  port = await listen({
    host: "127.0.0.1",
    port: 0,
    errorDomain: "moorage.dev",
    log: pino({ level: "silent" }),
    takeStream(stream, headers) {
      const answer = rpc.unary(headers);
      void answer?.(stream, headers, { requestId: "r1", remoteAddress: "192.0.2.1" });
      return answer !== undefined;
    },
    async handler(request, response) {
      if (rpc.matches(request)) return rpc.handle(request, response, { requestId: "r1", remoteAddress: "192.0.2.1" });
      response.statusCode = 404;
      response.end("not rpc");
    },
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

/** One call by the reference client, to any path. */
async function grpcJs(path: string, request: Uint8Array, headers: Record<string, string> = bearer): Promise<Buffer> {
  const client = new Client(`127.0.0.1:${port.port}`, credentials.createInsecure());
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  try {
    return await new Promise((resolve, reject) => {
      const bytes = (value: Uint8Array): Buffer => Buffer.from(value);
      client.makeUnaryRequest(
        path,
        bytes,
        (value) => value,
        request,
        metadata,
        (error, value) => (error ? reject(error) : resolve(value ?? Buffer.alloc(0))),
      );
    });
  } finally {
    client.close();
  }
}

async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => assert.fail("the call succeeded"),
    (error: unknown) => ConnectError.from(error),
  );
}

const groupRequest = (uid: string) => toBinary(GetGroupRequestSchema, create(GetGroupRequestSchema, { uid }));

async function post(
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number | undefined; body: string; headers: IncomingMessage["headers"] }> {
  const sent = httpRequest({ host: "127.0.0.1", port: port.port, path, method: "POST", headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response), headers: response.headers };
}

test("gRPC, gRPC-Web, Connect and grpc-js get the same answer", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    const group = await createClient(GroupsService, transport).getGroup({ uid: "a" }, { headers: bearer });
    assert.deepEqual([group.uid, group.name, group.description], ["a", "me", "r1 192.0.2.1 42 true"], name);
    assert.equal((await createClient(PingService, transport).ping({})).response, "pong", name);
  }
  assert.equal(fromBinary(GroupSchema, await grpcJs(GET_GROUP, groupRequest("a"))).name, "me");
});

test("errors have the details of REST, the same in every protocol", LIMIT, async () => {
  for (const [uid, failure] of Object.entries(failures)) {
    const expected = toStatus(failure, "iam", "moorage.dev");
    for (const [name, transport] of Object.entries(transports)) {
      const error = await failureOf(createClient(GroupsService, transport).getGroup({ uid }, { headers: bearer }));
      assert.deepEqual([error.code, error.rawMessage], [failure.code as number, failure.message], name);
      const details = error.details.map((detail) =>
        "type" in detail ? [`type.googleapis.com/${detail.type}`, Buffer.from(detail.value)] : [],
      );
      assert.deepEqual(
        details,
        expected.details.map((detail) => [detail.typeUrl, Buffer.from(detail.value)]),
        name,
      );
    }
    const error = await grpcJs(GET_GROUP, groupRequest(uid)).then(
      () => assert.fail("the call succeeded"),
      (thrown: ServiceError) => thrown,
    );
    assert.deepEqual([error.code, error.details], [failure.code, failure.message]);
    const [bytes] = error.metadata.get("grpc-status-details-bin");
    assert.ok(equals(StatusSchema, fromBinary(StatusSchema, bytes as Buffer), expected));
  }
  const json = await post(GET_GROUP, { "content-type": "application/json", ...bearer }, `{"uid":"later"}`);
  assert.deepEqual([json.status, json.headers["retry-after"]], [503, "2"]);
});

test("every call is authenticated, before its body is read", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    const error = await failureOf(
      createClient(GroupsService, transport).getGroup({ uid: "a" }, { headers: { authorization: "Bearer bad" } }),
    );
    assert.equal(error.code, Code.Unauthenticated, name);
    assert.deepEqual(
      error.findDetails(ErrorInfoSchema).map((info) => [info.reason, info.domain]),
      [["UNAUTHENTICATED", "iam.moorage.dev"]],
      name,
    );
  }
  const json = await post(GET_GROUP, { "content-type": "application/json" }, "not even JSON");
  assert.deepEqual([json.status, json.headers["www-authenticate"]], [401, "Bearer"]);
});

test("a method that reads the token itself gets the Authorization header unchanged", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    const { token } = await createClient(SecurityTokenService, transport).exchange(
      {},
      { headers: { authorization: "Bearer an.external.token" } },
    );
    assert.equal(token, "Bearer an.external.token", name);
  }
});

test("an unexpected error shows only its request id", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    const error = await failureOf(
      createClient(GroupsService, transport).getGroup({ uid: "broken" }, { headers: bearer }),
    );
    assert.deepEqual([error.code, error.rawMessage], [Code.Internal, "Internal error"], name);
    assert.equal(error.findDetails(ErrorInfoSchema)[0]?.metadata["requestId"], "r1", name);
  }
});

test("packages of v2beta1 reach v2, below each alias as well, in every protocol", LIMIT, async () => {
  for (const prefix of ["moorage", "acme.platform", "old"]) {
    const path = `/${prefix}.iam.v2beta1.GroupsService/GetGroup`;
    assert.equal(fromBinary(GroupSchema, await grpcJs(path, groupRequest("a"))).name, "me", prefix);
    const json = await post(path, { "content-type": "application/json", ...bearer }, `{"uid":"a"}`);
    assert.deepEqual([json.status, (JSON.parse(json.body) as { name: string }).name], [200, "me"], prefix);
    const missing = await grpcJs(path, groupRequest("missing")).then(
      () => assert.fail("the call succeeded"),
      (thrown: ServiceError) => thrown,
    );
    const [bytes] = missing.metadata.get("grpc-status-details-bin");
    const expected = toStatus(failures["missing"] ?? assert.fail(), "iam", "moorage.dev");
    assert.ok(equals(StatusSchema, fromBinary(StatusSchema, bytes as Buffer), expected), prefix);
    const { status } = await createClient(Health, transports["grpc"] ?? assert.fail()).check({
      service: `${prefix}.iam.v2beta1.GroupsService`,
    });
    assert.equal(status, ServingStatus.SERVING, prefix);
  }
  const unknown = await grpcJs("/moorage.iam.v2beta2.GroupsService/GetGroup", groupRequest("a")).then(
    () => assert.fail("the call succeeded"),
    (thrown: ServiceError) => thrown,
  );
  assert.equal(unknown.code, 12);
});

test("aliases name the same services", LIMIT, async () => {
  for (const alias of ["acme.platform", "old"]) {
    assert.equal(
      fromBinary(GroupSchema, await grpcJs(`/${alias}.iam.v2.GroupsService/GetGroup`, groupRequest("a"))).name,
      "me",
    );
    assert.equal(
      fromBinary(RawTokenSchema, await grpcJs(`/${alias}.oidc.SecurityTokenService/Exchange`, new Uint8Array())).token,
      "Bearer good",
    );
    const missing = await post(
      `/${alias}.iam.v2.GroupsService/GetGroup`,
      { "content-type": "application/json", ...bearer },
      `{"uid":"missing"}`,
    );
    assert.match(missing.body, /"domain":"iam\.moorage\.dev"/);
  }
  await assert.rejects(grpcJs("/other.iam.v2.GroupsService/GetGroup", groupRequest("a")), { code: Code.Unimplemented });
});

test("an unknown method is UNIMPLEMENTED, in each protocol's own form", LIMIT, async () => {
  for (const path of [
    "/moorage.iam.v2.GroupsService/Nothing",
    "/acme.platform.iam.v2.GroupsService/Nothing",
    "/a.b.v1.Service/Nothing",
    "/",
  ]) {
    const error = await grpcJs(path, new Uint8Array()).then(
      () => assert.fail("the call succeeded"),
      (thrown: ServiceError) => thrown,
    );
    assert.equal(error.code, Code.Unimplemented);
    const [bytes] = error.metadata.get("grpc-status-details-bin");
    assert.equal(fromBinary(StatusSchema, bytes as Buffer).details.length, 1);
  }
  const json = await post("/moorage.iam.v2.GroupsService/Nothing", { "content-type": "application/json" }, "{}");
  assert.equal(json.status, 501);
  assert.match(json.body, /"code":"unimplemented".*"domain":"iam\.moorage\.dev"/);
});

test("a message that is too large or cannot be read is rejected with one ErrorInfo", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    const error = await failureOf(
      createClient(GroupsService, transport).getGroup({ uid: "x".repeat(3000) }, { headers: bearer }),
    );
    assert.equal(error.code, Code.ResourceExhausted, name);
    assert.deepEqual(
      error.findDetails(ErrorInfoSchema).map((info) => [info.reason, info.domain]),
      [["RESOURCE_EXHAUSTED", "iam.moorage.dev"]],
      name,
    );
  }
  const error = await grpcJs(GET_GROUP, Buffer.from([0xff, 0xff])).then(
    () => assert.fail("the call succeeded"),
    (thrown: ServiceError) => thrown,
  );
  assert.equal(error.code, Code.InvalidArgument);
  assert.equal((await post(GET_GROUP, { "content-type": "application/proto", ...bearer }, "\u00ff\u00ff")).status, 400);
  const json = await post(GET_GROUP, { "content-type": "application/json", ...bearer }, "not JSON");
  assert.equal(json.status, 400);
  assert.match(json.body, /"code":"invalid_argument".*"reason":"INVALID_ARGUMENT"/);
});

test("an invalid host is answered 400", LIMIT, async () => {
  const answer = await post(GET_GROUP, { host: "[", "content-type": "application/json", ...bearer }, "{}");
  assert.equal(answer.status, 400);
  assert.match(answer.body, /"code":3.*"reason":"INVALID_ARGUMENT"/);
});

test("a deadline ends the call", LIMIT, async () => {
  for (const [name, transport] of Object.entries(transports)) {
    const error = await failureOf(
      createClient(GroupsService, transport).getGroup({ uid: "slow" }, { headers: bearer, timeoutMs: 50 }),
    );
    assert.equal(error.code, Code.DeadlineExceeded, name);
  }
  // A client that does not enforce the deadline itself shows that the server does.
  const json = await post(
    GET_GROUP,
    { "content-type": "application/json", "connect-timeout-ms": "30", ...bearer },
    `{"uid":"slow"}`,
  );
  assert.equal(json.status, 504);
  assert.match(json.body, /"reason":"DEADLINE_EXCEEDED"/);
});

test("a client that disconnects during a call does not disturb others", LIMIT, async () => {
  const client = http2Connect(`http://127.0.0.1:${port.port}`);
  const stream = client.request({
    ":method": "POST",
    ":path": GET_GROUP,
    "content-type": "application/grpc",
    te: "trailers",
    ...bearer,
  });
  stream.on("error", () => undefined);
  const body = groupRequest("slow");
  stream.write(Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]));
  await new Promise((resolve) => void client.ping(resolve));
  client.destroy();
  assert.equal((await createClient(PingService, transports["grpc"] ?? assert.fail()).ping({})).response, "pong");
});

test("requests that are not RPC are left to other handlers", LIMIT, async () => {
  assert.equal((await post("/iam/v2/groups", { "content-type": "application/json" }, "{}")).status, 404);
  const got = httpRequest({ host: "127.0.0.1", port: port.port, path: GET_GROUP, agent: false }).end();
  const [response] = (await once(got, "response")) as [IncomingMessage];
  assert.equal((await buffer(response)).toString(), "not rpc");
});

test("reflection lists the services and gives every file they need, in both versions", LIMIT, async () => {
  const grpc = transports["grpc"] ?? assert.fail();
  async function* ask<T>(...requests: T[]): AsyncGenerator<T> {
    yield* requests;
  }
  for (const info of [
    createClient(ServerReflection, grpc).serverReflectionInfo,
    createClient(AlphaReflection, grpc).serverReflectionInfo,
  ]) {
    const answers = [];
    const requests = ask(
      { messageRequest: { case: "listServices" as const, value: "" } },
      { messageRequest: { case: "fileContainingSymbol" as const, value: "moorage.iam.v2.GroupsService.GetGroup" } },
      { messageRequest: { case: "fileByFilename" as const, value: "moorage/ping/v2/ping.proto" } },
      { messageRequest: { case: "allExtensionNumbersOfType" as const, value: "google.protobuf.MethodOptions" } },
      {
        messageRequest: {
          case: "fileContainingExtension" as const,
          value: { containingType: "google.protobuf.MethodOptions", extensionNumber: 72295728 },
        },
      },
      { messageRequest: { case: "fileContainingSymbol" as const, value: "no.Such" } },
      { messageRequest: { case: "fileContainingSymbol" as const, value: "google.rpc.BadRequest.FieldViolation" } },
      { messageRequest: { case: "fileContainingSymbol" as const, value: "google.rpc.Status" } },
      {
        messageRequest: {
          case: "fileContainingSymbol" as const,
          value: "acme.platform.iam.v2.GroupsService.ListGroups",
        },
      },
      { messageRequest: { case: "fileContainingSymbol" as const, value: "old.iam.v2.Group" } },
    );
    for await (const { messageResponse } of info(requests)) answers.push(messageResponse);
    const [list, symbol, file, numbers, extension, none, details, status, aliased, message] = answers;
    assert.deepEqual(list?.case === "listServicesResponse" && list.value.service.map((service) => service.name), [
      "acme.platform.iam.v2.GroupsService",
      "acme.platform.oidc.SecurityTokenService",
      "acme.platform.ping.v2.PingService",
      "grpc.health.v1.Health",
      "grpc.reflection.v1.ServerReflection",
      "grpc.reflection.v1alpha.ServerReflection",
      "moorage.iam.v2.GroupsService",
      "moorage.oidc.SecurityTokenService",
      "moorage.ping.v2.PingService",
      "old.iam.v2.GroupsService",
      "old.oidc.SecurityTokenService",
      "old.ping.v2.PingService",
    ]);
    const files = (answer: typeof symbol) =>
      answer?.case === "fileDescriptorResponse"
        ? answer.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes))
        : [];
    assert.equal(files(symbol)[0]?.name, "moorage/iam/v2/groups.proto");
    const given = new Set(files(symbol).map((each) => each.name));
    for (const each of files(symbol)) for (const needed of each.dependency) assert.ok(given.has(needed), needed);
    assert.equal(files(file)[0]?.name, "moorage/ping/v2/ping.proto");
    assert.ok(numbers?.case === "allExtensionNumbersResponse" && numbers.value.extensionNumber.includes(50100));
    assert.equal(files(extension)[0]?.name, "google/api/annotations.proto");
    assert.equal(files(details)[0]?.name, "google/rpc/error_details.proto");
    assert.equal(files(status)[0]?.name, "google/rpc/status.proto");
    assert.equal(files(message)[0]?.name, "old/iam/v2/groups.proto");
    // A client makes of the files of an alias what it calls: all that they name is in them.
    const ordered = new Set<FileDescriptorProto>();
    const add = (name: string): void => {
      const found = files(aliased).find((each) => each.name === name) ?? assert.fail(name);
      for (const needed of found.dependency) add(needed);
      if (![...ordered].some((each) => each.name === name)) ordered.add(found);
    };
    add("acme/platform/iam/v2/groups.proto");
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...ordered] }));
    const { method: methods } = registry.getService("acme.platform.iam.v2.GroupsService") ?? assert.fail();
    assert.equal(methods["listGroups"]?.input.field["uidp"]?.message?.typeName, "acme.platform.common.UIDPFilter");
    assert.equal(methods["createGroup"]?.output.typeName, "acme.platform.iam.v2.Group");
    assert.equal(none?.case === "errorResponse" && none.value.errorCode, Code.NotFound);
  }
});

// Runs last, because it shuts the server down.
test("health has each service by name and alias, and a watch gets the shutdown", LIMIT, async () => {
  const client = createClient(Health, transports["grpc"] ?? assert.fail());
  for (const service of ["", "moorage.iam.v2.GroupsService", "acme.platform.iam.v2.GroupsService"]) {
    assert.equal((await client.check({ service })).status, ServingStatus.SERVING);
  }
  const unknown = await failureOf(client.check({ service: "no.Such" }));
  assert.equal(unknown.code, Code.NotFound);
  assert.equal((await client.list({})).statuses["moorage.ping.v2.PingService"]?.status, ServingStatus.SERVING);

  const seen: number[] = [];
  const lost: number[] = [];
  const watch = (async () => {
    for await (const { status } of client.watch({ service: "" })) {
      seen.push(status);
      if (status === ServingStatus.SERVING) shutdown.abort();
    }
  })();
  for await (const { status } of client.watch({ service: "no.Such" })) lost.push(status);
  await watch;
  assert.deepEqual(seen, [ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  assert.deepEqual(lost, [ServingStatus.SERVICE_UNKNOWN]);
});
