import assert from "node:assert/strict";
import { create, type DescMessage, type DescMethodUnary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { blamed, type Platform } from "../platform.ts";
import { restCallOf } from "../rest-call.ts";

/** A message of v1 as JSON has it: fields without a value are absent. */
export type Item = Record<string, unknown>;

/** A method and its request as JSON. */
export type Asked = readonly [method: DescMethodUnary, request: JsonValue];

/** Who asks: `none` without a token, `stranger` without a right, `viewer` and `owner` with that role. */
type Who = "none" | "stranger" | "viewer" | "owner";

/** The v1 API of a platform, by REST and by gRPC. */
export interface V1 {
  /** The answer to the owner's call by REST. */
  rest(method: DescMethodUnary, request: JsonValue): Promise<Item>;
  /** The answer to the owner's call by gRPC, as JSON. */
  grpc(method: DescMethodUnary, request: JsonValue): Promise<Item>;
  /**
   * The answer to a call that changes nothing, which is the same by REST and by gRPC; throws for an error.
   */
  read(method: DescMethodUnary, request: JsonValue, who?: Who): Promise<Item>;
  /** The items of a list, which are the same by REST and by gRPC. */
  items(method: DescMethodUnary, request?: JsonValue, who?: Who): Promise<Item[]>;
  /** The status and the blamed fields of a failing call, which are the same by REST and by gRPC. */
  refused(method: DescMethodUnary, request: JsonValue, who?: Who): Promise<[status: number, ...fields: string[]]>;
  /** The blamed fields of a call that only gRPC can make, such as one without what is in the path. */
  blamedByGrpc(method: DescMethodUnary, request: JsonValue): Promise<string[]>;
  /** The token of a caller. */
  token(who: Who): Promise<string | undefined>;
}

export async function v1Of(platform: Platform): Promise<V1> {
  const { organization } = platform;
  const identities: Record<Exclude<Who, "none">, string> = {
    stranger: await platform.identity(organization),
    viewer: await platform.identity(organization, "viewer"),
    owner: platform.owner,
  };
  const token: V1["token"] = async (who) => (who === "none" ? undefined : await platform.token(identities[who]));
  const restAnswer = async (method: DescMethodUnary, request: JsonValue, who: Who) => {
    const rest = restCallOf(method, fromJson(method.input, request));
    if (rest === undefined) throw new Error(`${method.toString()} has no REST binding`);
    return platform.call(rest.verb, rest.path, { token: await token(who), body: rest.body });
  };
  const grpcAnswer = async (method: DescMethodUnary, request: JsonValue, who: Who) =>
    platform.grpc.call(method, fromJson(method.input, request), await token(who));
  const rest: V1["rest"] = async (method, request) => {
    const answer = await restAnswer(method, request, "owner");
    assert.equal(answer.status, 200, `${method.toString()}: ${answer.text}`);
    return itemOf(method.output, answer.text);
  };
  const grpc: V1["grpc"] = async (method, request) => {
    const { message, error } = await grpcAnswer(method, request, "owner");
    assert.ok(message, `${method.toString()}: ${JSON.stringify(error)}`);
    return toJson(method.output, message) as Item;
  };
  const read: V1["read"] = async (method, request, who = "owner") => {
    const answer = await restAnswer(method, request, who);
    const { message, error } = await grpcAnswer(method, request, who);
    assert.ok(message, `${method.toString()}: ${JSON.stringify(error)}`);
    assert.equal(answer.status, 200, answer.text);
    const item = itemOf(method.output, answer.text);
    assert.deepEqual(item, toJson(method.output, message), method.toString());
    return item;
  };
  return {
    token,
    rest,
    grpc,
    read,
    items: async (method, request = {}, who = "owner") =>
      ((await read(method, request, who)) as { items?: Item[] }).items ?? [],
    async refused(method, request, who = "owner") {
      const answer = await restAnswer(method, request, who);
      const { error } = await grpcAnswer(method, request, who);
      assert.deepEqual(answer.body, error, method.toString());
      return [answer.status, ...blamed(answer)];
    },
    async blamedByGrpc(method, request) {
      const { error } = await grpcAnswer(method, request, "owner");
      assert.ok(error, method.toString());
      return blamed({ body: error });
    },
  };
}

/** The JSON of an answer, in the form that the library gives it: a time without its zeros. */
function itemOf(output: DescMessage, text: string): Item {
  const message = fromJson(output, text === "" ? {} : (JSON.parse(text) as JsonValue));
  return toJson(output, create(output, message)) as Item;
}

/**
 * Asserts who may call the methods of a resource that is there, by REST and by gRPC: without a token nobody; a stranger
 * finds nothing; a viewer reads it, and may not change it. `item`: what the list with this request has.
 */
export async function assertRights(
  v1: V1,
  { list, item, writes }: { list: Asked; item: Item; writes: readonly Asked[] },
): Promise<void> {
  for (const [method, request] of [list, ...writes])
    assert.deepEqual(await v1.refused(method, request, "none"), [401], `${method.toString()} without a token`);
  assert.deepEqual(await v1.read(...list, "stranger"), {});
  assert.deepEqual(await v1.items(...list, "viewer"), [item]);
  assert.deepEqual(await v1.items(...list, "owner"), [item]);
  for (const [method, request] of writes) {
    assert.deepEqual(await v1.refused(method, request, "stranger"), [404], `${method.toString()} by a stranger`);
    assert.deepEqual(await v1.refused(method, request, "viewer"), [403], `${method.toString()} by a viewer`);
  }
}
