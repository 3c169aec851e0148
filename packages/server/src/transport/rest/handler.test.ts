import assert from "node:assert/strict";
import { request as http1Request } from "node:http";
import { connect } from "node:http2";
import { after, before, test } from "node:test";
import { clockOf } from "@moorage/kernel/lib/clock";
import { create, type DescMessage, type DescMethod, type Message } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import {
  GroupsService,
  IdentitiesService,
  type Identity,
  ImagesService,
  ListReposResponseSchema,
  PingService,
  type Repo,
  RepoSchema,
  ReposService,
  RoleBindingsService,
  TagsService,
  type UpdateIdentityRequest,
  type UpdateRepoRequest,
} from "@moorage/api";
import fc from "fast-check";
import type { CallData, Caller } from "@moorage/kernel/core/call";
import { type Code, MoorageError, unauthenticated } from "@moorage/kernel/errors";
import { listen, type Listening } from "../http/listen.ts";
import { createPipeline } from "../../runtime/pipeline.ts";
import { restHandler } from "./handler.ts";

const UID = "a".repeat(40);
const MAX_BODY_BYTES = 2048;
const SERVICES = [
  GroupsService,
  IdentitiesService,
  ImagesService,
  PingService,
  ReposService,
  RoleBindingsService,
  TagsService,
];

interface Seen {
  method: DescMethod;
  data: CallData;
  message: Message;
  authorization: string;
}
interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: { code: number; message: string; details: Record<string, unknown>[] } & Record<string, unknown>;
}

let seen: Seen | undefined;
let reply: (message: Message, method: DescMethod) => Message;
let port: Listening;

const rest = restHandler({
  pipeline: createPipeline({
    dispatch: {
      answer: async (method, data, message, extra) => {
        seen = { method, data, message, authorization: extra?.authorization ?? "none" };
        return reply(message, method);
      },
      stream: () => assert.fail("no method here streams"),
    },
    authenticate: async (authorization): Promise<Caller> => {
      if (authorization === "Bearer bad") throw unauthenticated("the token is not valid");
      return { identity: authorization ?? "" };
    },
    clock: clockOf(() => 42),
  }),
  services: SERVICES,
  violationsOf: (_: DescMessage, message) =>
    "name" in message && message.name === "" ? [{ field: "name", description: "is required" }] : [],
  errorDomain: "moorage.dev",
  log: { error: () => {} },
  maxBodyBytes: MAX_BODY_BYTES,
});

before(async () => {
  port = await listen({
    host: "127.0.0.1",
    port: 0,
    errorDomain: "moorage.dev",
    log: { error: () => {} },
    handler: (request, response) =>
      rest.handle(request, response, { requestId: "request-1", remoteAddress: "127.0.0.1" }),
  });
  reply = (_, method) => create(method.output);
});
after(async () => port.close(0));

function send(
  method: string,
  path: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const kind = body === undefined ? {} : { "content-type": "application/json" };
    const length =
      body === undefined || "transfer-encoding" in headers ? {} : { "content-length": Buffer.byteLength(body) };
    const sent = http1Request(
      { host: "127.0.0.1", port: port.port, method, path, headers: { ...kind, ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: JSON.parse(text || "{}"),
          });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

function fieldsOf(answer: Answer): unknown {
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.json.code, 3);
  const badRequest = answer.json.details.find(
    (detail) => detail["@type"] === "type.googleapis.com/google.rpc.BadRequest",
  );
  return (badRequest?.["fieldViolations"] as { field: string }[] | undefined)?.map((violation) => violation.field);
}

test("a GET gives the method its message and call, and is answered with JSON and headers", async () => {
  reply = () => create(RepoSchema, { uid: UID, name: "n" });
  const answer = await send("GET", `/registry/v2/repos/${UID}%2F${"b".repeat(16)}`, undefined, {
    authorization: "Bearer x",
    "user-agent": "ua",
  });
  assert.equal(answer.status, 200);
  assert.equal(answer.json["uid"], UID);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(answer.headers["content-length"], String(Buffer.byteLength(answer.text)));
  assert.equal(answer.headers["x-request-id"], "request-1");
  assert.deepEqual(seen?.message, create(ReposService.method.getRepo.input, { uid: `${UID}/${"b".repeat(16)}` }));
  assert.deepEqual(seen?.data, {
    caller: { identity: "Bearer x" },
    requestId: "request-1",
    nowMs: 42,
    agreedMs: 42,
    remoteAddress: "127.0.0.1",
    userAgent: "ua",
  });
  assert.equal(seen?.authorization, "Bearer x");
});

test("HEAD is answered as GET without the body, and a delete with an empty body", async () => {
  reply = () => create(RepoSchema, { uid: UID });
  const [get, head] = [await send("GET", `/registry/v2/repos/${UID}`), await send("HEAD", `/registry/v2/repos/${UID}`)];
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", get.headers["content-length"]]);
  reply = () => create(EmptySchema);
  const gone = await send("DELETE", `/registry/v2/repos/${UID}`);
  assert.deepEqual(
    [gone.status, gone.text, gone.headers["content-length"], gone.headers["content-type"]],
    [200, "", "0", undefined],
  );
});

test("an empty list is answered with its list field, under both prefixes", async () => {
  reply = () => create(ListReposResponseSchema, { totalCount: 0n });
  for (const version of ["v2", "v2beta1"]) {
    const answer = await send("GET", `/registry/${version}/repos?page_size=5&uidp.descendantsOf=${UID}`);
    assert.equal(answer.text, '{"repos":[],"nextPageToken":"","totalCount":"0","skipped":0}');
  }
});

test("unknown paths are answered 404, wrong methods 405", async () => {
  const missing = await send("GET", "/iam/v2/nothing");
  assert.deepEqual([missing.status, missing.json.code], [404, 5]);
  const infos = missing.json.details.filter((detail) => detail["@type"] === "type.googleapis.com/google.rpc.ErrorInfo");
  assert.deepEqual(
    infos.map((info) => info["domain"]),
    ["iam.moorage.dev"],
  );
  assert.equal((await send("GET", "/elsewhere")).json.details[0]?.["domain"], "platform.moorage.dev");
  const wrong = await send("PUT", "/iam/v2/groups");
  assert.deepEqual([wrong.status, wrong.json.code, wrong.headers["allow"]], [405, 12, "GET, HEAD, POST"]);
  assert.equal(rest.matches("/iam/v2/nothing"), true);
  assert.equal(rest.matches("/v2/"), false);
});

test("invalid percent-encoding in a path is a violation of its field", async () => {
  assert.deepEqual(fieldsOf(await send("GET", "/registry/v2/repos/%zz")), ["uid"]);
  assert.deepEqual(fieldsOf(await send("PATCH", "/registry/v2/repos/%ff", "{}")), ["uid"]);
});

test("a body that is not a JSON object, or of another content type, is rejected", async () => {
  const path = `/iam/v2/identities/${UID}`;
  for (const body of ["{", "[]", "null", '"x"', "1", Buffer.from([0x7b, 0xff, 0x7d])]) {
    assert.deepEqual(fieldsOf(await send("POST", path, body)), ["body"], String(body));
  }
  assert.deepEqual(
    fieldsOf(await send("POST", path, "name=x", { "content-type": "application/x-www-form-urlencoded" })),
    ["content-type"],
  );
  assert.deepEqual(fieldsOf(await send("POST", path, "{}", { "content-type": "application/json; charset=latin1" })), [
    "content-type",
  ]);
  assert.deepEqual(fieldsOf(await send("POST", path, "{}", { "content-encoding": "gzip" })), ["content-encoding"]);
  reply = (_, method) => create(method.output);
  for (const type of ["application/json", "application/json; charset=UTF-8", "application/merge-patch+json"]) {
    assert.equal((await send("POST", path, '{"name":"n"}', { "content-type": type })).status, 200, type);
  }
  assert.equal((await send("POST", path)).status, 200);
});

test("a body over the limit is rejected with the limit, with and without a content-length, and the answer arrives", async () => {
  const large = JSON.stringify({ name: "x".repeat(MAX_BODY_BYTES) });
  for (const headers of [{}, { "transfer-encoding": "chunked" }] as Record<string, string>[]) {
    const answer = await send("POST", `/iam/v2/identities/${UID}`, large, headers);
    assert.deepEqual(fieldsOf(answer), ["body"]);
    assert.match(answer.json.message, /at most 2048 bytes/);
  }
});

test("a wrong body is rejected with all of its violations, missing fields included", async () => {
  const answer = await send("POST", `/iam/v2/identities/${UID}?bogus=1`, '{"description":5,"claimMatch":{"issuer":1}}');
  assert.deepEqual(fieldsOf(answer), ["bogus", "description", "claimMatch.issuer", "name"]);
  assert.match(answer.json.message, /^Invalid argument: bogus: /);
});

test("a request is authenticated before its body is looked at", async () => {
  const answer = await send("POST", `/iam/v2/identities/${UID}`, "{", { authorization: "Bearer bad" });
  assert.deepEqual([answer.status, answer.json.code, answer.headers["www-authenticate"]], [401, 16, "Bearer"]);
});

async function patch(query: string, body: string): Promise<{ paths: string[] | undefined; repo: Repo | undefined }> {
  reply = () => create(RepoSchema);
  const answer = await send("PATCH", `/registry/v2/repos/${UID}${query}`, body);
  assert.equal(answer.status, 200, answer.text);
  const request = seen?.message as UpdateRepoRequest | undefined;
  return { paths: request?.updateMask?.paths, repo: request?.repo };
}

test("an update without a mask changes the fields of its body, and takes the uid of its path", async () => {
  const { paths, repo } = await patch(
    "",
    JSON.stringify({ uid: "other", description: "", catalogTier: "CATALOG_TIER_AI", create_time: "x" }),
  );
  assert.deepEqual(paths, ["description", "catalog_tier"]);
  assert.equal(repo?.uid, UID);
  assert.deepEqual((await patch("", "{}")).paths, []);
  assert.deepEqual((await patch("?updateMask=", '{"name":"n"}')).paths, ["name"]);
});

test("an update with a mask reads only the fields that the mask names", async () => {
  const body = JSON.stringify({ name: 5, bogus: {}, description: "d", sync_config: { source: "s", bogus: 1 } });
  const { paths, repo } = await patch("?updateMask=description,syncConfig.source", body);
  assert.deepEqual(paths, ["description", "sync_config.source"]);
  assert.deepEqual([repo?.description, repo?.syncConfig?.source, repo?.name], ["d", "s", ""]);
  assert.deepEqual((await patch("?update_mask=no_such", body)).paths, ["no_such"]);
  assert.deepEqual((await patch("?updateMask=*", '{"name":"n"}')).paths, ["*"]);
  assert.deepEqual(fieldsOf(await send("PATCH", `/registry/v2/repos/${UID}?updateMask=*`, '{"nme":"n"}')), ["nme"]);
  assert.deepEqual(fieldsOf(await send("PATCH", `/registry/v2/repos/${UID}?updateMask=name,,x`, "{}")), ["updateMask"]);
  assert.deepEqual(
    fieldsOf(await send("PATCH", `/registry/v2/repos/${UID}?updateMask=description`, '{"description":1}')),
    ["description"],
  );
});

test("a leaf of a member of a oneof has its own name in the mask", async () => {
  reply = (_, method) => create(method.output);
  await send("PATCH", `/iam/v2/identities/${UID}`, '{"claimMatch":{"issuer":"i"}}');
  const request = seen?.message as UpdateIdentityRequest;
  assert.deepEqual(request.updateMask?.paths, ["claim_match.issuer"]);
  assert.equal((request.identity as Identity).relationship.case, "claimMatch");
});

test("errors of a service have their status and headers, and an unexpected error reveals nothing", async () => {
  const statuses: [Code, number][] = [
    [3, 400],
    [5, 404],
    [6, 409],
    [7, 403],
    [8, 429],
    [9, 400],
    [12, 501],
    [14, 503],
    [15, 500],
    [16, 401],
  ];
  for (const [code, status] of statuses) {
    reply = () => {
      throw new MoorageError(code, "no", { retryAfterMs: 1500 });
    };
    const answer = await send("GET", "/registry/v2/repos");
    assert.deepEqual([answer.status, answer.json.code, answer.headers["cache-control"]], [status, code, "no-store"]);
    assert.equal(answer.headers["retry-after"], code === 8 || code === 14 ? "2" : undefined);
    assert.equal(answer.json.details[0]?.["domain"], "registry.moorage.dev");
  }
  // A read never conflicts; what it writes on its way may.
  for (const [method, path, status, code] of [
    ["GET", "/registry/v2/repos", 503, 14],
    ["PATCH", `/iam/v2/identities/${UID}`, 409, 10],
  ] as const) {
    reply = () => {
      throw new MoorageError(10, "others were faster");
    };
    const answer = await send(method, path, method === "PATCH" ? "{}" : undefined);
    assert.deepEqual([answer.status, answer.json.code], [status, code]);
  }
  reply = () => {
    throw new Error("secret");
  };
  const answer = await send("GET", "/registry/v2/repos");
  assert.deepEqual(
    [answer.status, answer.json.code, answer.text.includes("secret"), answer.text.includes("request-1")],
    [500, 13, false, true],
  );
});

test("HTTP/2 is answered like HTTP/1.1", async () => {
  reply = () => create(RepoSchema, { uid: UID });
  const session = connect(`http://127.0.0.1:${port.port}`);
  const ask = (method: string, path: string, body: string): Promise<{ status: unknown; text: string }> =>
    new Promise((resolve, reject) => {
      const kind = body === "" ? {} : { "content-type": "application/json" };
      const stream = session.request({ ":method": method, ":path": path, ...kind }, { endStream: body === "" });
      let status: unknown;
      let text = "";
      stream
        .setEncoding("utf8")
        .on("response", (headers) => (status = headers[":status"]))
        .on("data", (chunk: string) => (text += chunk));
      stream.on("end", () => resolve({ status, text })).on("error", reject);
      if (body !== "") stream.end(body);
    });
  try {
    assert.equal((await ask("GET", `/registry/v2/repos/${UID}`, "")).status, 200);
    assert.equal((await ask("PATCH", `/registry/v2/repos/${UID}`, '{"name":"n"}')).status, 200);
    assert.equal(
      (await ask("POST", `/iam/v2/identities/${UID}`, JSON.stringify({ name: "x".repeat(MAX_BODY_BYTES * 40) })))
        .status,
      400,
    );
    assert.deepEqual((await ask("HEAD", `/registry/v2/repos/${UID}`, "")).text, "");
    assert.equal((await ask("PUT", "/iam/v2/groups", "")).status, 405);
  } finally {
    session.close();
  }
});

test("a caller that disconnects before its answer, or during its body, does not disturb others", async () => {
  const calls: Promise<void>[] = [];
  let reached: (() => void) | undefined;
  let leave: (() => void) | undefined;
  const gone = await listen({
    host: "127.0.0.1",
    port: 0,
    errorDomain: "moorage.dev",
    log: { error: () => {} },
    handler: (request, response) => {
      // The answer is made only after the caller has disconnected. Over HTTP/1.1 this looks like a client that
      // has closed only its sending side.
      const left = new Promise<void>((resolve) => {
        response.once("close", () => resolve());
        leave = resolve;
      });
      const late = restHandler({
        services: SERVICES,
        violationsOf: () => [],
        errorDomain: "moorage.dev",
        log: { error: () => {} },
        pipeline: createPipeline({
          dispatch: {
            answer: async (method) => (await left, create(method.output)),
            stream: () => assert.fail("no method here streams"),
          },
          authenticate: async () => ({ identity: "" }),
          clock: clockOf(() => 0),
        }),
      });
      const call = late.handle(request, response, { requestId: "r", remoteAddress: "" });
      calls.push(Promise.resolve(call));
      reached?.();
      return call;
    },
  });
  const arrival = (): Promise<void> => new Promise((resolve) => (reached = resolve));
  try {
    for (const [method, body] of [
      ["GET", undefined],
      ["POST", "{"],
    ] as const) {
      const path = method === "GET" ? `/iam/v2/identities/${UID}` : `/iam/v2/roleBindings/${UID}`;
      const sent = http1Request({
        host: "127.0.0.1",
        port: gone.port,
        method,
        path,
        headers: body === undefined ? {} : { "content-length": 100 },
      });
      sent.on("error", () => {});
      sent.flushHeaders();
      if (body !== undefined) sent.write(body);
      await arrival();
      sent.destroy();
      await new Promise((resolve) => void sent.once("close", resolve));
      leave?.();
      await calls.at(-1);
      const session = connect(`http://127.0.0.1:${gone.port}`);
      const stream = session.request({ ":method": method, ":path": path }, { endStream: body === undefined });
      stream.on("error", () => {});
      if (body !== undefined) stream.write(body);
      await arrival();
      stream.close(8);
      await calls.at(-1);
      session.close();
    }
    assert.deepEqual(
      (await Promise.allSettled(calls)).map((call) => call.status),
      ["fulfilled", "fulfilled", "fulfilled", "fulfilled"],
    );
  } finally {
    await gone.close(0);
  }
});

test("property: every request is answered, and never by a 500", async () => {
  reply = (_, method) => create(method.output);
  const segment = fc.constantFrom(
    "iam",
    "v2",
    "identities",
    "registry",
    "repos",
    "readme",
    "roleBindings:batchCreate",
    "%2F",
    "%",
    "%ff",
    UID,
  );
  const path = fc.array(fc.oneof(segment, fc.webSegment()), { maxLength: 6 });
  const query = fc.oneof(
    fc.webQueryParameters(),
    fc.constantFrom("updateMask=name,__proto__", "updateMask=%ff", "page_size=x", "%=&=&&", "uidp.ids="),
  );
  const start = fc.constantFrom(
    `/iam/v2/identities/${UID}`,
    "/iam/v2/roleBindings:batchCreate",
    `/registry/v2/repos/${UID}`,
    "/iam/v2/groups",
  );
  const body = fc.option(
    fc.oneof(
      fc.json(),
      fc.string(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    ),
    { nil: undefined },
  );
  const target = fc.oneof(
    start,
    path.map((parts) => `/${parts.join("/")}`),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("GET", "POST", "PATCH", "DELETE", "PUT"),
      target,
      query,
      body,
      async (method, base, search, content) => {
        const answer = await send(method, `${base}?${search}`, content);
        if (answer.status === 400) assert.ok((fieldsOf(answer) as string[]).every((field) => field !== ""));
        else assert.ok([200, 404, 405].includes(answer.status), `${answer.status} ${answer.text}`);
      },
    ),
    { numRuns: 300 },
  );
});
