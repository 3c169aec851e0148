import assert from "node:assert/strict";
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromJson,
  type JsonValue,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";
import type { Answer, Platform } from "./platform.ts";
import { restCallOf } from "./rest-call.ts";

/**
 * Calls a method that changes nothing, or fails, by REST and by gRPC, and asserts that both answer the same. Returns
 * REST's answer.
 */
export async function both<I extends DescMessage, O extends DescMessage>(
  platform: Platform,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  token?: string,
): Promise<Answer> {
  const rest = restCallOf(method, create(method.input, request));
  if (rest === undefined) throw new Error(`${method.toString()} has no REST binding`);
  const answer = await platform.call(rest.verb, rest.path, { token, body: rest.body });
  const { message, error } = await platform.grpc.call(method, request, token);
  if (message === undefined) assert.deepEqual(answer.body, error, `${rest.verb} ${rest.path}`);
  else
    assert.deepEqual(
      plain(toJson(method.output, fromJson(method.output, answer.text === "" ? {} : JSON.parse(answer.text)))),
      plain(toJson(method.output, message)),
      `${rest.verb} ${rest.path}`,
    );
  return answer;
}

// A page token contains the time of its issue, so two tokens differ; but either both answers have one or none has.
function plain(json: JsonValue): JsonValue {
  return typeof json === "object" && json !== null && "nextPageToken" in json
    ? { ...json, nextPageToken: "given" }
    : json;
}
