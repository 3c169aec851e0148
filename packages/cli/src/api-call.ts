// Calls of any method of the platform API over gRPC, with JSON in and out.
import {
  createRegistry,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromJson,
  type JsonValue,
  type MessageShape,
  type Registry,
  toJson,
} from "@bufbuild/protobuf";
import * as api from "@moorage/api";
import { nearest } from "@moorage/kernel/lib/near";
import { UsageFailure } from "./command/failure.ts";
import type { ServerFlags } from "./command/global-options.ts";
import { interruption } from "./command/interrupt.ts";
import { connect } from "./connection.ts";
import { escapeControls } from "./printable.ts";

/** A method that takes one request. */
type Callable = DescMethodUnary | DescMethodServerStreaming;

const HOUR_MS = 3_600_000;
const MAX_DEPTH = 4;

/** Every message and service of the API package. */
function apiRegistry(): Registry {
  return createRegistry(
    ...Object.values(api).flatMap((value) => ("kind" in value && value.kind === "file" ? [value] : [])),
  );
}

/**
 * Finds a method by `package.Service/Method` or, shorter, `Service/Method`. Throws a UsageFailure with the names that
 * are near, or else with those that there are.
 */
function findMethod(registry: Registry, path: string): Callable {
  const services = [...registry].filter((item): item is DescService => item.kind === "service");
  const [serviceName, methodName] = path.split("/");
  const service = services.find(({ typeName, name }) => typeName === serviceName || name === serviceName);
  const method = service && callable(service).find(({ name }) => name === methodName);
  if (method !== undefined) return method;
  throw new UsageFailure(`${path}: no such method`, { hint: hintFor(path, services, service) });
}

function hintFor(path: string, services: readonly DescService[], service: DescService | undefined): string {
  const methods = services.flatMap(callable);
  // Named as the person does: with the package, the service, or neither.
  const names = methods.map(({ name, parent }) => ({
    short: `${parent.name}/${name}`,
    forms: [`${parent.typeName}/${name}`, `${parent.name}/${name}`, name],
  }));
  const form = path.includes("/") ? (path.includes(".") ? 0 : 1) : 2;
  const near = nearest(
    path,
    names.map(({ forms }) => forms[form] ?? ""),
  );
  if (near.length > 0) {
    const meant = near.flatMap((name) =>
      form === 2 ? names.filter(({ forms }) => forms[2] === name).map(({ short }) => short) : [name],
    );
    return `did you mean ${meant.join(" or ")}?`;
  }
  if (service !== undefined) return `${service.name} has ${callable(service).map(listed).join(", ")}`;
  return `there are the services ${services.map(listed).join(", ")}`;
}

function listed({ name }: { name: string }): string {
  return name;
}

function callable({ methods }: DescService): Callable[] {
  return methods.filter(
    (method): method is Callable => method.methodKind === "unary" || method.methodKind === "server_streaming",
  );
}

/**
 * Calls a method with a request in JSON, and prints the response as JSON; those of a stream as a line each, until the
 * stream ends, the process is interrupted, or nobody reads them any longer. Throws an Error when it fails.
 */
export async function callMethod(path: string, json: string, flags: ServerFlags): Promise<void> {
  const registry = apiRegistry();
  const method = findMethod(registry, path);
  const input = readRequest(method.input, parseJson(json), registry);
  // A stream ends with its token.
  const { ask, watch } = await connect(flags, method.methodKind === "unary" ? undefined : HOUR_MS);
  const print = (message: MessageShape<DescMessage>, space: number): void =>
    console.log(
      escapeControls(
        JSON.stringify(toJson(method.output, message, { registry, alwaysEmitImplicit: true }), null, space),
      ),
    );
  if (method.methodKind === "unary") return print(await ask(method, input), 2);
  const stopped = interruption();
  for await (const message of watch(method, input, stopped)) print(message, 0);
  if (stopped.aborted) throw stopped.reason;
}

function readRequest(input: DescMessage, json: JsonValue, registry: Registry): MessageShape<DescMessage> {
  try {
    return fromJson(input, json, { registry });
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const [, wrong] = /key "([^"]*)" is unknown$/.exec(problem) ?? [];
    if (wrong === undefined) throw new UsageFailure(problem, { cause });
    const near = nearest(wrong, fieldsOf(input, MAX_DEPTH));
    const hint =
      near.length > 0 ? `did you mean ${near.join(" or ")}?` : `${input.name} has ${fieldsOf(input, 1).join(", ")}`;
    throw new UsageFailure(problem, { hint, cause });
  }
}

/** The names of the message's fields, and of those of messages in it, down to a depth. */
function fieldsOf({ fields }: DescMessage, depth: number): string[] {
  return fields.flatMap((field) => [
    field.jsonName,
    ...(depth > 1 && field.message !== undefined ? fieldsOf(field.message, depth - 1) : []),
  ]);
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new UsageFailure("the request is not JSON", { cause });
  }
}
