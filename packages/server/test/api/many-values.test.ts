import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { GroupsService, ListGroupsRequestSchema } from "@moorage/api";
import { type Platform, startPlatform } from "../support/platform.ts";

// A message within the size that is allowed, of so many values that reading it would hold up everybody. Source:
// docs/contract.md, "Limits".
const MOST = 20_000;
const PROBLEM = /at most 20000 values/;

let platform: Platform;
let token: string;
before(async () => {
  platform = await startPlatform();
  token = await platform.token();
});
after(() => platform.close());

/** As many values in all as a message may have, and so many more. */
const filter = (more: number): { uidp: { ids: string[] } } => ({
  uidp: { ids: Array<string>(MOST - 1 + more).fill("a") },
});

test("REST refuses a body of too many values, however small they are, and takes one of as many as are allowed", async () => {
  const send = (raw: string): ReturnType<Platform["call"]> =>
    platform.call("POST", `/iam/v2/roles/${platform.organization}`, {
      token,
      raw,
      headers: { "content-type": "application/json" },
    });
  const wide = (more: number): string =>
    `{"name":"wide","capabilities":[${Array(MOST - 3 + more)
      .fill('""')
      .join()}]}`;
  for (const raw of [wide(1), `[${"[],".repeat(MOST)}[]]`, `{${'"a":{},'.repeat(MOST)}"a":0}`]) {
    const refused = await send(raw);
    assert.equal(refused.status, 400);
    assert.match(refused.text, PROBLEM);
  }
  // Read whole, it is rejected for what it says.
  assert.doesNotMatch((await send(wide(0))).text, PROBLEM);
  // Marks inside of texts are no values.
  const text = await platform.call("POST", `/iam/v2/groups/${platform.organization}`, {
    token,
    body: { name: "marks", description: '[{",\\"'.repeat(100) + ",".repeat(MOST + 1) },
  });
  assert.doesNotMatch(text.text, PROBLEM);
});

test("every protocol refuses a message of too many values, compressed or not, and takes one that is allowed", async () => {
  const baseUrl = platform.url;
  const small = { sendCompression: compressionGzip, compressMinBytes: 0 };
  const transports: Record<string, Transport> = {
    grpc: createGrpcTransport({ baseUrl }),
    "grpc, compressed": createGrpcTransport({ baseUrl, ...small }),
    "grpc-web": createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
    "grpc-web, compressed": createGrpcWebTransport({ baseUrl, httpVersion: "1.1", ...small }),
    "connect, JSON": createConnectTransport({ baseUrl, httpVersion: "1.1" }),
    "connect, binary": createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
    "connect, compressed": createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true, ...small }),
  };
  for (const [name, transport] of Object.entries(transports)) {
    const { listGroups } = createClient(GroupsService, transport);
    const headers = { authorization: `Bearer ${token}` };
    const error = await listGroups(filter(2), { headers }).then(
      () => assert.fail(`${name}: it was read`),
      (thrown: unknown) => ConnectError.from(thrown),
    );
    assert.equal(error.code, Code.InvalidArgument, name);
    assert.match(error.message, PROBLEM, name);
    assert.deepEqual((await listGroups(filter(-2), { headers })).groups, [], name);
  }
});

test("fields that no message has count as well", async () => {
  const unknown = new BinaryWriter();
  for (let n = 0; n <= MOST; n++) unknown.tag(9_999, WireType.Varint).uint32(1);
  const binary = unknown.finish();
  const json = `{${'"x":0,'.repeat(MOST)}"x":0}`;
  for (const [type, raw, headers] of [
    ["application/proto", binary, {}],
    ["application/proto", gzipSync(binary), { "content-encoding": "gzip" }],
    ["application/json", json, {}],
    ["application/json; charset=utf-8", json, {}],
  ] as const) {
    const answer = await platform.call("POST", `/${GroupsService.typeName}/ListGroups`, {
      token,
      raw,
      headers: { "content-type": type, ...headers },
    });
    assert.equal(answer.status, 400, type);
    assert.match(answer.text, PROBLEM, type);
  }
});

test("whoever is not authenticated is answered that first", async () => {
  const request = create(ListGroupsRequestSchema, filter(2));
  for (const [type, raw] of [
    ["application/proto", toBinary(ListGroupsRequestSchema, request)],
    ["application/json", toJsonString(ListGroupsRequestSchema, request)],
  ] as const) {
    const answer = await platform.call("POST", `/${GroupsService.typeName}/ListGroups`, {
      raw,
      headers: { "content-type": type },
    });
    assert.equal(answer.status, 401, type);
  }
});
